
from dataclasses import dataclass
from penstock.media.ffmpeg import run, reading, writing
MASTER = "master.m3u8"
@dataclass
class Encoded:
    renditions: dict
def encode_adaptive(source, probed, ladder, into, *, progress, grown=None, limit=None):
    d = into/"180p"; d.mkdir()
    progress(0.1)
    run([*reading(source), "-c:v","libx264","-preset","ultrafast","-bf","0","-c:a","aac","-f","hls","-hls_segment_type","fmp4","-hls_time","1","-hls_playlist_type","vod","-hls_fmp4_init_filename","init.mp4","-hls_segment_filename",str(d/"segment_%05d.m4s"),str(d/"index.m3u8")])
    run([*reading(source), "-c","copy",writing(into/"180p.mp4")])
    (into/MASTER).write_text("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=100000\n180p/index.m3u8\n")
    for p in [*sorted(d.glob("*.m4s")), d/"init.mp4", d/"index.m3u8", into/MASTER]:
        grown(p)
    return Encoded({"180p": into/"180p.mp4"})
