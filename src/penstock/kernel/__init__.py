"""The kernel: a store, changes that commit whole, leases, idempotency, the outbox, the audit trail."""
