# Runs a server for as long as the test process lives: bash -c daemon.sh NAME SIGNAL SCRIPT, in
# a new folder that is $PWD. Standard input is a pipe whose other end the test process holds.
# It ends when that process does, however it dies; then the server gets SIGNAL.
set -m # each job below is a process group of its own: the server's children end with it
exec 3<&0
bash -c "$2" 3<&- </dev/null &
server=$!
{
  read -r _ <&3 # a builtin: no child that somebody would have to wait for
  kill "-$1" -- "-$server"
} 2>/dev/null &
watch=$!
wait "$server"
kill -KILL -- "-$watch"
wait "$watch"
dir=$PWD
cd /
rm -rf "$dir"
