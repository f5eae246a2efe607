from tests.kernel.test_histories import everywhere, _run
def test_rand(everywhere):
    _run(everywhere, max_examples=45)
