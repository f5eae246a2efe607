"""Who runs tasks: threads of this process, Celery for many machines, or a test by hand."""
