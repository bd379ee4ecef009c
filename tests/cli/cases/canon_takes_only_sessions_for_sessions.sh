# A survey's number in sid= names a page; 32 hexadecimal digits or a UUID are a session.
printf 'http://example.com/?sid=%s\n' a1b2c3d4e5f6a7b8c9d0 b1b2c3d4e5f6a7b8c9d0 9682993c8daa2c5497996114facdc805 \
    0f5e2c1a-9b3d-4e6f-8a7b-0123456789ab > urls
try vidi canon --canon crawl urls
