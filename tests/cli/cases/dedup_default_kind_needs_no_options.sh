printf 'https://a/\nhttps://b/\nhttps://a/\n' | vidi
