
from penstock.media.ffmpeg import run, reading, writing
def poster(source, probed, target):
    run([*reading(source), "-frames:v", "1", "-update", "1", writing(target)])
def scrub_sheet(source, probed, sheet, track):
    run([*reading(source), "-frames:v", "1", "-update", "1", writing(sheet)])
    track.write_text("WEBVTT\n\n00:00.000 --> 00:01.000\nscrub.jpg#xywh=0,0,10,10\n")
