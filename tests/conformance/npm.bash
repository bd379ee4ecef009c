# npm packages for scripts that compare vidi with other programs. They are installed once, below the build folder.

# npm_skip TITLE REASON: ends the script, which has one test.
npm_skip()
{
    echo "1..1"
    echo "ok 1 - $1 # SKIP $2"
    exit 0
}

# npm_install TITLE FOLDER: installs what FOLDER/package-lock.json lists, sets node_folder, and copies the scripts to it.
# Without Node or a network, the test with this title is skipped.
npm_install()
{
    local title=$1 from=$2
    for tool in node npm; do
        command -v $tool >/dev/null || npm_skip "$title" "$tool is not installed"
    done
    node_folder=${VIDI_BUILD:-build}/node/$(basename "$from")
    if ! cmp -s "$from/package-lock.json" "$node_folder/installed"; then
        mkdir -p "$node_folder" && cp "$from"/package*.json "$node_folder" || exit 1
        npm ci --prefix "$node_folder" --ignore-scripts --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 \
            >"$node_folder/log" 2>&1 </dev/null || npm_skip "$title" "npm cannot install $(basename "$from")"
        cp "$node_folder/package-lock.json" "$node_folder/installed"
    fi
    cp "$from"/*.mjs "$node_folder" || exit 1
}
