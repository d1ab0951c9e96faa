import PostgresClient
import Store

/// Accounts, their roles and invitations. None of these tables has rows of a tenant.
enum AccountSQL {
    static let byName = StoreSQL.global(
        "SELECT account_id, name, password, code_salt, disabled_at IS NOT NULL AS is_disabled FROM gateway.account WHERE name = $1"
    )

    static let byID = StoreSQL.global(
        "SELECT account_id, name, password, code_salt, disabled_at IS NOT NULL AS is_disabled FROM gateway.account WHERE account_id = $1"
    )

    /// `$1` null: every account; otherwise those with a role in the tenant, and of their roles only that.
    static let list = StoreSQL.global(
        """
        SELECT a.account_id, a.name, a.created_at, a.disabled_at, a.code_salt IS NOT NULL AS has_codes,
            coalesce((SELECT array_agg(r.tenant ORDER BY r.tenant) FROM gateway.account_role r
                WHERE r.account_id = a.account_id AND ($1::text IS NULL OR r.tenant = $1)), '{}') AS tenants,
            coalesce((SELECT array_agg(r.role ORDER BY r.tenant) FROM gateway.account_role r
                WHERE r.account_id = a.account_id AND ($1::text IS NULL OR r.tenant = $1)), '{}') AS roles,
            (SELECT max(s.seen_at) FROM gateway.console_session s WHERE s.account_id = a.account_id) AS seen_at
        FROM gateway.account a
        WHERE $1::text IS NULL OR EXISTS (
            SELECT FROM gateway.account_role r WHERE r.account_id = a.account_id AND r.tenant = $1)
        ORDER BY a.name LIMIT \(ListedAccount.limit)
        """
    )

    /// Taken before accounts, roles and invitations change, so that what was counted stays true.
    static let lock = StoreSQL.global(
        "SELECT 1 AS one FROM (SELECT pg_advisory_xact_lock(hashtextextended('gateway.account', 0)) OFFSET 0) AS locked"
    )

    static let hasTenant = StoreSQL.global(
        "SELECT EXISTS (SELECT 1 FROM gateway.tenant t WHERE t.tenant_id = $1) AS found"
    )

    static let tenantsOf = StoreSQL.global(
        "SELECT tenant FROM gateway.account_role WHERE account_id = $1 AND tenant <> '' ORDER BY tenant"
    )

    static let tenantsOfName = StoreSQL.global(
        """
        SELECT r.tenant FROM gateway.account_role r JOIN gateway.account a ON a.account_id = r.account_id
        WHERE a.name = $1 AND r.tenant <> '' ORDER BY r.tenant
        """
    )

    static let create = StoreSQL.global(
        """
        INSERT INTO gateway.account (account_id, name, password) VALUES (gen_random_uuid(), $1, $2)
        ON CONFLICT (name) DO NOTHING RETURNING account_id
        """
    )

    static let setPassword = StoreSQL.global(
        "UPDATE gateway.account SET password = $2, password_at = now() WHERE account_id = $1"
    )

    /// `$2` null: the account has no codes any longer.
    static let setCode = StoreSQL.global(
        "UPDATE gateway.account SET code_salt = $2::bytea, code_step = $3 WHERE account_id = $1"
    )

    /// Uses a code once: a step that is not later than the last one changes nothing.
    static let useCode = StoreSQL.global(
        "UPDATE gateway.account SET code_step = $2 WHERE account_id = $1 AND code_step < $2 AND code_salt IS NOT NULL"
    )

    static let disable = StoreSQL.global(
        "UPDATE gateway.account SET disabled_at = now() WHERE name = $1 AND disabled_at IS NULL RETURNING account_id"
    )

    static let enable = StoreSQL.global(
        "UPDATE gateway.account SET disabled_at = NULL WHERE name = $1 AND disabled_at IS NOT NULL RETURNING account_id"
    )

    static let putRole = StoreSQL.global(
        """
        INSERT INTO gateway.account_role AS r (account_id, tenant, role) VALUES ($1, $2, $3)
        ON CONFLICT (account_id, tenant) DO UPDATE SET role = excluded.role WHERE r.role <> excluded.role RETURNING r.role
        """
    )

    static let dropRole = StoreSQL.global(
        "DELETE FROM gateway.account_role WHERE account_id = $1 AND tenant = $2 RETURNING role"
    )

    /// The owners of a tenant who can sign in, other than one account.
    static let otherOwners = StoreSQL.global(
        """
        SELECT count(*) AS owners FROM gateway.account_role r JOIN gateway.account a ON a.account_id = r.account_id
        WHERE r.tenant = $1 AND r.role = 'owner' AND r.account_id <> $2 AND a.disabled_at IS NULL
        """
    )

    /// An earlier link for the same name in the same tenant ends.
    static let dropInvitations = StoreSQL.global(
        "DELETE FROM gateway.account_invitation WHERE name = $1 AND tenant = $2"
    )

    /// The links that an account has made.
    static let dropInvitationsBy = StoreSQL.global("DELETE FROM gateway.account_invitation WHERE actor = $1")

    static let invite = StoreSQL.global(
        """
        INSERT INTO gateway.account_invitation (hash, name, tenant, role, actor, ends_at)
        VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
        """
    )

    static let invitation = StoreSQL.global(
        "SELECT name, tenant, role, ends_at FROM gateway.account_invitation WHERE hash = $1 AND ends_at > now()"
    )

    static let takeInvitation = StoreSQL.global(
        "DELETE FROM gateway.account_invitation WHERE hash = $1 AND ends_at > now() RETURNING name, tenant, role, ends_at"
    )
}

/// Sessions and failures.
enum SessionSQL {
    static let open = StoreSQL.global(
        """
        INSERT INTO gateway.console_session (hash, account_id, session_id, proven_at, ends_at, address, browser)
        SELECT $1, a.account_id, gen_random_uuid(), CASE WHEN $3::boolean THEN NULL ELSE now() END, now() + make_interval(secs => $4), $5, $6
        FROM gateway.account a WHERE a.account_id = $2 AND a.password = $7 AND a.disabled_at IS NULL FOR SHARE
        RETURNING session_id
        """
    )

    /// The oldest sessions above the limit of an account end.
    static let trim = StoreSQL.global(
        """
        DELETE FROM gateway.console_session WHERE hash IN (
            SELECT s.hash FROM gateway.console_session s WHERE s.account_id = $1 ORDER BY s.created_at DESC OFFSET $2)
        """
    )

    /// A session that has not ended, was used within two hours, and whose account may sign in.
    static let find = StoreSQL.global(
        """
        SELECT s.session_id, s.account_id, a.name, a.code_salt IS NOT NULL AS has_codes, s.proven_at IS NULL AS awaits_code,
            (s.proven_at > now() - interval '10 minutes') IS TRUE AS is_proven, s.seen_at < now() - interval '1 minute' AS is_stale,
            coalesce((SELECT array_agg(r.tenant ORDER BY r.tenant) FROM gateway.account_role r WHERE r.account_id = a.account_id), '{}')
                AS tenants,
            coalesce((SELECT array_agg(r.role ORDER BY r.tenant) FROM gateway.account_role r WHERE r.account_id = a.account_id), '{}')
                AS roles
        FROM gateway.console_session s JOIN gateway.account a ON a.account_id = s.account_id
        WHERE s.hash = $1 AND s.ends_at > now() AND s.seen_at > now() - interval '2 hours' AND a.disabled_at IS NULL
        """
    )

    static let touch = StoreSQL.global("UPDATE gateway.console_session SET seen_at = now() WHERE hash = $1")

    static let prove = StoreSQL.global(
        "UPDATE gateway.console_session SET proven_at = now() WHERE hash = $1 AND proven_at IS NOT NULL"
    )

    static let list = StoreSQL.global(
        """
        SELECT session_id, created_at, seen_at, address, browser FROM gateway.console_session
        WHERE account_id = $1 AND ends_at > now() AND seen_at > now() - interval '2 hours' AND proven_at IS NOT NULL
        ORDER BY created_at DESC
        """
    )

    static let end = StoreSQL.global("DELETE FROM gateway.console_session WHERE hash = $1")

    static let endOne = StoreSQL.global("DELETE FROM gateway.console_session WHERE account_id = $1 AND session_id = $2")

    /// All sessions of an account, or all but one.
    static let endAll = StoreSQL.global(
        "DELETE FROM gateway.console_session WHERE account_id = $1 AND ($2::bytea IS NULL OR hash <> $2)"
    )

    /// Counts an attempt before it is checked, so that attempts at the same time are counted too. No row: the subject is blocked. `$2` failures are free; each
    /// further one blocks twice as long, from 30 seconds to an hour. After a day without failures, the count starts at zero.
    static let attempt = StoreSQL.global(
        """
        INSERT INTO gateway.account_attempt AS a (subject, failures, failed_at, blocked_until) VALUES ($1, 1, now(), now())
        ON CONFLICT (subject) DO UPDATE SET failed_at = now(),
            failures = CASE WHEN a.failed_at < now() - interval '1 day' THEN 1 ELSE a.failures + 1 END,
            blocked_until = CASE WHEN a.failed_at < now() - interval '1 day' OR a.failures < $2 THEN now()
                ELSE now() + least(interval '1 hour', make_interval(secs => 30 * power(2, least(a.failures - $2, 20)))) END
        WHERE a.blocked_until <= now()
        RETURNING a.failures
        """
    )

    static let wait = StoreSQL.global(
        """
        SELECT ceil(extract(epoch FROM greatest(blocked_until - now(), interval '0')))::bigint AS seconds
        FROM gateway.account_attempt WHERE subject = $1
        """
    )

    static let forgive = StoreSQL.global("DELETE FROM gateway.account_attempt WHERE subject = $1")

    /// Takes one attempt back: it was right. Otherwise a person with an account could clear the failures of an address.
    static let withdraw = StoreSQL.global(
        "UPDATE gateway.account_attempt SET failures = greatest(failures - 1, 0), blocked_until = now() WHERE subject = $1"
    )

    static let sweepStep = 5000

    /// `$1`: the maximum number of rows.
    static let sweep = [
        StoreSQL.global(
            """
            DELETE FROM gateway.console_session WHERE hash IN (
                SELECT hash FROM gateway.console_session WHERE ends_at < now() ORDER BY ends_at LIMIT $1)
            """
        ),
        StoreSQL.global(
            """
            DELETE FROM gateway.account_invitation WHERE hash IN (
                SELECT hash FROM gateway.account_invitation WHERE ends_at < now() ORDER BY ends_at LIMIT $1)
            """
        ),
        StoreSQL.global(
            """
            DELETE FROM gateway.account_attempt WHERE subject IN (
                SELECT subject FROM gateway.account_attempt WHERE failed_at < now() - interval '2 days' ORDER BY failed_at LIMIT $1)
            """
        ),
    ]
}
