"""What the tests of the Redis module share: servers, a client, frames, and the output format of the tests."""
