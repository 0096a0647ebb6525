#!/bin/sh
exec "$(dirname "$0")/pcd" classify "$@"
