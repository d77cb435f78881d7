from tests.cast import Cast
def test_cast(cast: Cast) -> None:
    from memory.capture import capture
    from memory.recall import recall
    capture(cast.ann.actor, content="zorkmid")
    assert len(recall(cast.ann.actor, "zorkmid").hits) == 1
