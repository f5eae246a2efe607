"""Every promise of an object store, as one class to subclass."""

from __future__ import annotations

from penstock.testing.object_promises.copies import Copies
from penstock.testing.object_promises.downloads import SignedDownloads
from penstock.testing.object_promises.keys import KeyPromises
from penstock.testing.object_promises.listings import Listings
from penstock.testing.object_promises.parts import UploadsInParts
from penstock.testing.object_promises.puts import Puts
from penstock.testing.object_promises.races import Races
from penstock.testing.object_promises.reads import ReadPromises
from penstock.testing.object_promises.uploads import SignedUploads


class ObjectSuite(
    Puts, ReadPromises, Listings, Copies, KeyPromises, Races, UploadsInParts, SignedDownloads, SignedUploads
):
    """All promises. Provide a fixture ``objects``: a fresh, empty object store whose signed URLs can be reached."""
