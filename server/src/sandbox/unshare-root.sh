# Builds the root file system of a sandbox and runs a program in it. Runs as process 1 of new user, mount, process, network,
# IPC and host name namespaces, with every capability over those and none over the host.
#
# Arguments are steps, in order:
#   bind ro|rw FROM TO   a host file or directory (canonical path) and what is mounted below it
#   link TARGET PATH     a symbolic link
#   enter BYTES          makes the new root the root; adds /proc, /dev and a private /tmp of that size, and
#                        allows one more user namespace
#   cover PATH           makes a part of /proc read-only
#   close CWD            lets go of the host's files
#   run COMMAND...       the rest of the arguments
set -euf
umask 022
program_path=$PATH
PATH=/usr/bin:/bin:/usr/sbin:/sbin
mounted=$(cat /proc/self/mountinfo)
host=
root=/tmp

directory() {
  [ -d "$1" ] || mkdir -p "$1"
}

mount_point() { # LIKE PATH
  if [ -d "$1" ]; then
    directory "$2"
    return
  fi
  directory "${2%/*}"
  [ -e "$2" ] || : >"$2"
}

bind() { # MODE FROM TO
  [ -e "$host$2" ] || { echo "There is no $2." >&2; exit 1; }
  mount_point "$host$2" "$root$3"
  mount --rbind "$host$2" "$root$3"
  mount -o "remount,bind,$1,nosuid,nodev" "$root$3"
  restrict_below "$@"
}

# A remount changes one mount only, not those below it.
restrict_below() { # MODE FROM TO
  below_mode=$1 below_from=$2 below_to=$3
  IFS='
'
  for line in $mounted; do
    IFS=' '
    set -- $line
    point=$5
    case $point in *\\*) point=$(unescape "$point") ;; esac
    case $point in
    "$below_from"/*) mount -o "remount,bind,$below_mode,nosuid,nodev" "$root$below_to${point#"$below_from"}" ;;
    esac
  done
  unset IFS
}

# Blanks are octal numbers in mountinfo: \040.
unescape() {
  rest=$1
  while :; do
    case $rest in *\\*) ;; *) break ;; esac
    after=${rest#*\\}
    printf '%s%b' "${rest%%\\*}" "\\0${after%"${after#???}"}"
    rest=${after#???}
  done
  printf '%s' "$rest"
}

enter() { # BYTES
  cd /tmp
  mkdir host proc dev tmp
  pivot_root . host
  cd /
  host=/host
  root=
  mount -t proc -o nosuid,nodev,noexec proc /proc
  mount -t tmpfs -o "size=$1,mode=1777,nosuid,nodev" tmpfs /tmp
  mount -t tmpfs -o mode=755,nosuid,noexec tmpfs /dev
  mkdir -m 1777 /dev/shm
  mount -t tmpfs -o "size=$1,mode=1777,nosuid,nodev" tmpfs /dev/shm
  for device in null zero full random urandom; do
    : >"/dev/$device"
    mount --bind "/host/dev/$device" "/dev/$device"
  done
  link /proc/self/fd /dev/fd
  link /proc/self/fd/0 /dev/stdin
  link /proc/self/fd/1 /dev/stdout
  link /proc/self/fd/2 /dev/stderr
  hostname sandbox || :
  # One more, that of the program; there it has no power over what is set up here.
  echo 1 >/proc/sys/user/max_user_namespaces
}

link() { # TARGET PATH
  ln -s "$1" "$root$2"
}

close() { # CWD
  umount -l /host
  mount -o remount,bind,ro /dev
  mount -o remount,bind,ro /
  cd "$1"
}

mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /tmp
while :; do
  step=$1
  shift
  case $step in
  bind) bind "$1" "$2" "$3"; shift 3 ;;
  link) link "$1" "$2"; shift 2 ;;
  enter) enter "$1"; shift ;;
  cover) [ ! -e "$1" ] || mount -o bind,ro "$1" "$1"; shift ;;
  close) close "$1"; shift ;;
  run) break ;;
  esac
done
PATH=$program_path
unset OLDPWD
exec "$@"
