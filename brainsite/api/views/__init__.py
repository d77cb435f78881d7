"""Routes, by noun: build an Actor, call one verb, shape the answer."""
