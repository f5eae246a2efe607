
def rungs(probed):
    return ["180p"]
