"""The service: a REST API over the declarations of all domains. `penstock.web.api.build_api` makes it."""
