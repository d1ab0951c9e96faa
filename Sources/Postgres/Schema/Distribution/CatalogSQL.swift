import PostgresClient

/// Reads the schema from PostgreSQL's catalog: the input of `database distribute`, and the checks that keep the schema distributable.
enum CatalogSQL {
    /// `$1` is the schema. Tables in the order of their creation, without partitions: key columns in order, and the tables that foreign keys reference.
    private static let tables = """
        SELECT c.relname::text AS name,
            EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped)
                AS has_tenant,
            coalesce((SELECT array_agg(a.attname::text ORDER BY k.o) FROM pg_index i
                CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(n, o)
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.n
                WHERE i.indrelid = c.oid AND i.indisprimary), '{}') AS key,
            coalesce((SELECT array_agg(DISTINCT p.relname::text) FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid
                WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid), '{}') AS parents,
            (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = c.oid) AS partitions
        FROM pg_class c
        WHERE c.relnamespace = to_regnamespace($1::text) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        ORDER BY c.oid
        """

    /// The properties of schema `$1` that prevent its distribution. `$2`: names of the distributed tables, `$3`: of the reference tables. A partition belongs
    /// to its parent. Each rule names the failure that was observed without it.
    private static let breaches = """
        WITH k AS (
            SELECT c.oid, c.relname::text AS name, c.relowner, c.relispartition, c.relrowsecurity, c.relforcerowsecurity,
                CASE WHEN coalesce(p.relname, c.relname) = ANY ($2::text[]) THEN 'distributed'
                    WHEN coalesce(p.relname, c.relname) = ANY ($3::text[]) THEN 'reference' ELSE 'local' END AS kind
            FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
            WHERE c.relnamespace = to_regnamespace($1::text) AND c.relkind IN ('r', 'p')),
        f AS (
            SELECT x.conname::text AS name, x.confdeltype AS on_delete, child.kind AS child,
                coalesce(parent.kind, 'foreign') AS parent,
                (SELECT array_agg(a.attname::text ORDER BY u.o) FROM unnest(x.conkey) WITH ORDINALITY AS u(n, o)
                    JOIN pg_attribute a ON a.attrelid = x.conrelid AND a.attnum = u.n) AS columns,
                (SELECT array_agg(a.attname::text ORDER BY u.o) FROM unnest(x.confkey) WITH ORDINALITY AS u(n, o)
                    JOIN pg_attribute a ON a.attrelid = x.confrelid AND a.attnum = u.n) AS targets
            FROM pg_constraint x JOIN k child ON child.oid = x.conrelid LEFT JOIN k parent ON parent.oid = x.confrelid
            WHERE x.contype = 'f' AND x.conparentid = 0)
        SELECT 'no primary key: an online move needs it' AS rule, k.name AS subject FROM k
            WHERE k.kind <> 'local' AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = k.oid AND i.indisprimary)
        UNION ALL
        SELECT 'a unique key does not begin with tenant_id', x.relname::text FROM pg_index i
            JOIN k ON k.oid = i.indrelid AND k.kind = 'distributed' JOIN pg_class x ON x.oid = i.indexrelid
            LEFT JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = i.indkey[0]
            WHERE i.indisunique AND a.attname IS DISTINCT FROM 'tenant_id'
        UNION ALL
        SELECT 'an exclusion constraint', x.conname::text FROM pg_constraint x JOIN k ON k.oid = x.conrelid
            WHERE x.contype = 'x' AND k.kind <> 'local'
        UNION ALL
        SELECT 'a foreign key crosses tenants', f.name FROM f
            WHERE f.child = 'distributed' AND f.parent = 'distributed'
                AND (f.columns[1] <> 'tenant_id' OR f.targets[1] <> 'tenant_id')
        UNION ALL
        SELECT 'a foreign key leads to a table that is not spread', f.name FROM f
            WHERE f.child <> 'local' AND f.parent IN ('local', 'foreign')
        UNION ALL
        SELECT 'a foreign key of a local table leads to a spread one', f.name FROM f
            WHERE f.child = 'local' AND f.parent IN ('distributed', 'reference')
        UNION ALL
        SELECT 'a reference table refers to a distributed one', f.name FROM f
            WHERE f.child = 'reference' AND f.parent = 'distributed'
        UNION ALL
        SELECT 'SET NULL or SET DEFAULT in a key with tenant_id', f.name FROM f
            WHERE f.child = 'distributed' AND f.on_delete IN ('n', 'd') AND 'tenant_id' = ANY (f.columns)
        UNION ALL
        SELECT 'a trigger', t.tgname::text FROM pg_trigger t JOIN k ON k.oid = t.tgrelid WHERE NOT t.tgisinternal
        UNION ALL
        SELECT 'an identity column', k.name || '.' || a.attname FROM pg_attribute a JOIN k ON k.oid = a.attrelid
            WHERE a.attidentity <> '' AND NOT a.attisdropped
        UNION ALL
        SELECT 'a serial column', k.name || '.' || a.attname FROM pg_depend d JOIN k ON k.oid = d.refobjid
            JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
            JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum = d.refobjsubid
            WHERE d.deptype = 'a' AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
        UNION ALL
        SELECT 'a column of a server''s own transaction ids', k.name || '.' || a.attname FROM pg_attribute a
            JOIN k ON k.oid = a.attrelid
            WHERE k.kind <> 'local' AND a.attnum > 0 AND NOT a.attisdropped
                AND a.atttypid = ANY ('{xid, xid8, cid, tid, pg_snapshot, txid_snapshot, pg_lsn}'::regtype[])
        UNION ALL
        SELECT 'a default of a server''s own', k.name || '.' || a.attname FROM pg_attrdef e JOIN k ON k.oid = e.adrelid
            JOIN pg_attribute a ON a.attrelid = e.adrelid AND a.attnum = e.adnum
            WHERE k.kind <> 'local' AND pg_get_expr(e.adbin, e.adrelid) ~
                '(pg_current_xact_id|txid_|pg_current_snapshot|pg_snapshot_|pg_backend_pid|pg_current_wal|currval|lastval)'
        UNION ALL
        SELECT 'tables have several owners: a shard move loses updates', string_agg(DISTINCT k.relowner::regrole::text, ', ') FROM k
            HAVING count(DISTINCT k.relowner) > 1
        UNION ALL
        SELECT 'no row-level security', k.name FROM k
            WHERE k.kind = 'distributed' AND NOT k.relispartition AND NOT k.relrowsecurity
        UNION ALL
        SELECT 'row-level security is forced: online moves never end', k.name FROM k WHERE k.relforcerowsecurity
        UNION ALL
        SELECT 'a restrictive policy: workers get a permissive one', k.name || '.' || y.polname FROM pg_policy y
            JOIN k ON k.oid = y.polrelid WHERE NOT y.polpermissive
        UNION ALL
        SELECT 'a function in LANGUAGE sql', p.proname::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace = to_regnamespace($1::text) AND l.lanname = 'sql'
        ORDER BY 1, 2
        """

    /// The functions of schema `$1` that neither write nor run as their owner: the name, the form that `create_distributed_function` accepts, and the body.
    private static let functions = """
        SELECT p.proname::text AS name,
            format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) AS signature,
            p.provolatile = 'i' AS is_immutable, p.prosrc AS body
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.pronamespace = to_regnamespace($1::text) AND p.provolatile <> 'v' AND NOT p.prosecdef
        ORDER BY 2
        """

    /// The parts of the plan that the database of schema `$1` has, as a kind and a name. Only for a database with the extension. `t` is the replication of reference
    /// tables. A table is a leftover while the coordinator's own copy has rows.
    private static let distribution = """
        SELECT CASE WHEN p.partmethod = 'h' THEN 'distributed' WHEN p.repmodel = 't' THEN 'reference' ELSE 'other' END AS kind,
            c.relname::text AS name
            FROM pg_catalog.pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
            WHERE c.relnamespace = to_regnamespace($1::text)
        UNION ALL
        SELECT DISTINCT 'leftover', coalesce(h.relname, c.relname)::text
            FROM pg_catalog.pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
            LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class h ON h.oid = i.inhparent
            WHERE c.relnamespace = to_regnamespace($1::text) AND pg_relation_size(c.oid) > 0
        UNION ALL
        SELECT 'function', format('%I.%I(%s)', n.nspname, f.proname, oidvectortypes(f.proargtypes))
            FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace
            JOIN pg_catalog.pg_dist_object o ON o.classid = 'pg_catalog.pg_proc'::regclass AND o.objid = f.oid
            WHERE f.pronamespace = to_regnamespace($1::text)
        UNION ALL
        SELECT 'login', r.rolname::text FROM pg_roles r WHERE r.rolcanlogin
        UNION ALL
        SELECT 'setting', r.rolname || ' ' || x.setting FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
            CROSS JOIN LATERAL unnest(s.setconfig) AS x(setting)
            WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
        """

    private static let extensions = "SELECT count(*) AS count FROM pg_catalog.pg_extension WHERE extname = 'citus'"

    static func functions(of schema: String) -> Statement { Statement(functions, [.text(schema)], reach: .global) }

    static func citus() -> Statement { Statement(extensions, [], reach: .global) }

    static func distribution(of schema: String) -> Statement {
        Statement(distribution, [.text(schema)], reach: .global)
    }

    static func tables(of schema: String) -> Statement {
        Statement(tables, [.text(schema)], reach: .global)
    }

    static func breaches(of schema: String, distributed: [String], reference: [String]) -> Statement {
        Statement(breaches, [.text(schema), .texts(distributed), .texts(reference)], reach: .global)
    }
}
