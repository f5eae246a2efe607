"""The OpenAPI document of the service as it ships, from which the console's types are made.

python -m penstock.cli.api_document > openapi.json
"""

from __future__ import annotations

import json

from penstock.cli.routes_reference import shipped_api
from penstock.runtime.discovery import discover
from penstock.runtime.settings import Settings

if __name__ == "__main__":
    print(json.dumps(shipped_api(discover(Settings())).openapi()))
