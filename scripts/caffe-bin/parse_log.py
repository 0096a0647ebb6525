#!/bin/sh
exec "$(dirname "$0")/pcd" parse_log "$@"
