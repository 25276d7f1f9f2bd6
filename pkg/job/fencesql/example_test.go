package fencesql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencesql"
)

func Example() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	ctx := context.Background()
	for _, statement := range []string{
		fencesql.Schema(fencesql.SQLite),
		"CREATE TABLE account (id TEXT, balance INT)",
		"INSERT INTO account VALUES ('a', 0)",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			log.Fatal(err)
		}
	}

	book := func(run job.Run) error {
		return fencesql.Tx(ctx, db, fencesql.SQLite, run, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id = 'a'")
			return err
		})
	}
	paused, newer := job.Run{Scheduler: "shop", Job: "book", Fence: 7}, job.Run{Scheduler: "shop", Job: "book", Fence: 8}
	fmt.Println(book(newer))
	err = book(paused)
	fmt.Println(err, errors.Is(err, job.ErrFenced))
	// Output:
	// <nil>
	// write with fence 7 refused: fence 8 has been seen here true
}
