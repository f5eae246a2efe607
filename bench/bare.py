"""`python -m bench.bare PORT STORE`: three routes of FastAPI that call the kernel, and nothing around them."""

from __future__ import annotations

import sys
from typing import Any
from uuid import UUID

import uvicorn
from fastapi import FastAPI

from penstock import Store, open_store
from penstock.domains.novae.model import DOMAIN, Reference


def app(store: Store) -> FastAPI:
    """A record by its key, a page of records, and a new record; anybody may ask for anything."""
    made = FastAPI()

    @made.get("/references/{nova_id}/{reference_id}")
    def get(nova_id: UUID, reference_id: str) -> Reference:
        return store.get(Reference.at(nova_id=nova_id, reference_id=reference_id))

    @made.get("/references")
    def of_nova(nova_id: UUID, limit: int = 50) -> dict[str, Any]:
        page = store.page(Reference.of_nova(nova_id=nova_id), limit=limit)
        return {"items": page.records, "next": page.cursor}

    @made.post("/references", status_code=201)
    def create(record: Reference) -> Reference:
        with store.change(by="anybody") as change:
            change.create(record)
        return record

    return made


def main(port: int, url: str) -> None:
    store = open_store(url)
    store.ensure(DOMAIN)
    uvicorn.run(app(store), host="127.0.0.1", port=port, access_log=False, log_level="error")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
