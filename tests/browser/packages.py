"""What browser tests take from npm, each checked against the checksum recorded here."""

from __future__ import annotations

from tests.servers import Tarball

CHROMIUM = Tarball(
    name="@sparticuz/chromium",
    version="153.0.0",
    integrity="sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
)
HLS = Tarball(
    name="hls.js",
    version="1.7.4",
    integrity="sha512-3GlxGdPvT2YHvQYOt+yOzT/DEior/qJVNIylHA77kgeoBTdQQqi70GwefNEUmHQeNGyjC8U62+bruqW/Tpm+tg==",
)
AXE = Tarball(
    name="axe-core",
    version="4.14.0",
    integrity="sha512-9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
)
