"""Seals: what was written in an audit trail stays written, or it shows.

Each line of a trail carries its own hash. From time to time a seal covers all lines since the one before, in order, and
chains to it. Nobody waits for anybody: a change only adds its line, and of two sealers one wins. After each round of
sealing a checkpoint, chained to the one before, names every trail that was registered or sealed since: so the register
of trails is chained as well, and the digest of a checkpoint vouches for all trails at once. Checkpoints name only what
has changed, however many trails there are, and nothing new is nothing written.

A seal leaves out the newest lines, those younger than a margin. A line is dated by the clock of whoever wrote it and
becomes visible a little later, so the margin must be longer than clocks differ and than a commit takes; a line that
arrives later still, dated before a seal, looks like one that was inserted.

What cannot be shown: anything about lines that no seal covers yet, and a forgery by somebody who may write to the store
and computes the lines' hashes, all later seals and all later checkpoints anew. Against that, keep a digest elsewhere
(`penstock audit digest` prints it) and hand it to `penstock audit verify --expect`: it proves that all that stood then
stands now, however much was added since. Seals are not keyed with a secret of the deployment: whoever can write to the
store can mostly read that as well, an auditor should not need it, and it may be changed.

A seal vouches for its lines by their hashes alone, and a checkpoint for a seal by its digest: lines can be moved to an
archive, whose files the seal then names, and are verified there like any others. Seals and checkpoints stay.
"""

from penstock.kernel.audit_register import AuditedProject, register
from penstock.kernel.seals.archived_lines import ArchivedLines
from penstock.kernel.seals.chain import Chain, Named, read_chain
from penstock.kernel.seals.checkpoint import Checkpoint, Head, Kept, kept_digests
from penstock.kernel.seals.seal import MARGIN, Seal
from penstock.kernel.seals.sealing import checkpoint, projects, seal, seal_known
from penstock.kernel.seals.verdict import Finding, Verdict
from penstock.kernel.seals.verification import fits, verify, verify_all

__all__ = [
    "MARGIN",
    "ArchivedLines",
    "AuditedProject",
    "Chain",
    "Checkpoint",
    "Finding",
    "Head",
    "Kept",
    "Named",
    "Seal",
    "Verdict",
    "checkpoint",
    "fits",
    "kept_digests",
    "projects",
    "read_chain",
    "register",
    "seal",
    "seal_known",
    "verify",
    "verify_all",
]
