package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// None of them has to keep anything: nothing is synced to disk.
var (
	postgres = &daemon{
		name: "postgres", program: "initdb", debian: "postgresql", user: "postgres", signal: "QUIT",
		socket: ".s.PGSQL.5432",
		script: `initdb -D data -U test --auth=trust --no-sync --locale=C -E UTF8 >/dev/null &&
			exec postgres -D "$PWD/data" -k "$PWD" -h "" -F -c synchronous_commit=off -c full_page_writes=off`,
		ready: postgresReady,
	}
	mariadb = &daemon{
		name: "mariadb", program: "mariadb-install-db", debian: "mariadb-server", user: "mysql", signal: "KILL",
		socket: "sock",
		script: `mariadb-install-db --no-defaults --datadir="$PWD/data" --auth-root-authentication-method=normal --skip-test-db >/dev/null &&
			exec mariadbd --no-defaults --datadir="$PWD/data" --socket="$PWD/sock" --skip-networking --tmpdir="$PWD" \
			--pid-file="$PWD/pid" --innodb-flush-log-at-trx-commit=0 --innodb-log-file-size=8M --innodb-buffer-pool-size=32M`,
	}
	redisServer = &daemon{
		name: "redis", program: "redis-server", debian: "redis-server", user: "nobody", signal: "KILL",
		socket: "sock",
		script: `exec redis-server --port 0 --unixsocket "$PWD/sock" --save "" --appendonly no --dir "$PWD"`,
	}
)

// postgresReady reads the server's own word: while it starts it accepts connections only to
// refuse them.
func postgresReady(dir string) bool {
	state, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	return err == nil && strings.Contains(string(state), "ready")
}

// Postgres starts PostgreSQL and returns a connection string for its database postgres,
// which the package's tests share.
func Postgres(t testing.TB) string {
	t.Helper()
	return "host=" + postgres.folder(t) + " user=test dbname=postgres sslmode=disable"
}

// MariaDB starts MariaDB and returns a data source name, as github.com/go-sql-driver/mysql
// reads it, for its database mysql, which the package's tests share.
func MariaDB(t testing.TB) string {
	t.Helper()
	return "root@unix(" + filepath.Join(mariadb.folder(t), mariadb.socket) + ")/mysql"
}

// Redis starts Redis and returns the path of its socket.
func Redis(t testing.TB) string {
	t.Helper()
	return filepath.Join(redisServer.folder(t), redisServer.socket)
}
