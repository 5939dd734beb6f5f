# One host of a lab: a root of its own for what it writes, and an ssh server. $1: folder; $2: name; $3: sshd.
set -eu
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mkdir -p /run/sshd /run/lab
# What is below /tmp or /root is gone from here on, the lab's own folder as well.
mount --no-canonicalize --bind "$1" /run/lab
# A copy: a file that another program replaces by its name would take a mount over it away.
cp -a /etc /run/etc
echo "sshd:x:22222:65534::/run/sshd:/usr/sbin/nologin" >>/run/etc/passwd
mount --bind /run/etc /etc
mkdir -p /run/sshd-root
[ -z "${4:-}" ] || mount --bind "$4" /run/sshd-root
mount -t tmpfs tmpfs /root
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /var/tmp
hostname "$2"
exec "$3" -D -e -f "/run/lab/$2.sshd" 2>"/run/lab/$2.log"
