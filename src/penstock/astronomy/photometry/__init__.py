"""Tables of brightness: recognised, read with everything counted, and handed on as light curves."""

from penstock.astronomy.photometry.photometry_hints import PhotometryHints, hints_of
from penstock.astronomy.photometry.photometry_judgement import PhotometryJudgement, judge_photometry, replay_photometry

__all__ = ["PhotometryHints", "PhotometryJudgement", "hints_of", "judge_photometry", "replay_photometry"]
