-- Accounts of the web console: their roles, sessions, invitations and failures.
-- Oldest program: 39
CREATE TABLE gateway.account (
    account_id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> ''),
    -- scrypt with its costs and its salt, as `PasswordHash` writes it.
    password text NOT NULL,
    password_at timestamptz NOT NULL DEFAULT now(),
    -- The one-time codes follow from it and from a key of the gateway (`OneTimeCode`); null: the account has no codes.
    code_salt bytea,
    -- The last time step whose code was used: a code is accepted once.
    code_step bigint NOT NULL DEFAULT 0,
    -- Null: the account may sign in.
    disabled_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.account TO gateway_engine;

-- The rights of an account: in a tenant, or as `platform` with the tenant ''.
CREATE TABLE gateway.account_role (
    account_id uuid NOT NULL REFERENCES gateway.account ON DELETE CASCADE,
    tenant text NOT NULL,
    role text NOT NULL CONSTRAINT account_role_role CHECK (role IN ('owner', 'operator', 'author', 'analyst', 'auditor', 'platform')),
    PRIMARY KEY (account_id, tenant)
);
CREATE INDEX account_role_tenant ON gateway.account_role (tenant, account_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.account_role TO gateway_engine;

CREATE TABLE gateway.console_session (
    -- SHA-256 of the value of the cookie, which is not stored.
    hash bytea PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES gateway.account ON DELETE CASCADE,
    -- How the account's list of sessions names it.
    session_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    -- When the password was given last; null: the session still needs a one-time code and opens nothing else.
    proven_at timestamptz,
    ends_at timestamptz NOT NULL,
    -- The address and the browser at sign-in, for the list.
    address text NOT NULL DEFAULT '',
    browser text NOT NULL DEFAULT ''
);
CREATE INDEX console_session_account ON gateway.console_session (account_id, created_at);
CREATE INDEX console_session_ends ON gateway.console_session (ends_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.console_session TO gateway_engine;

-- A link that creates an account, or gives an account another password. It works once.
CREATE TABLE gateway.account_invitation (
    -- SHA-256 of the secret of the link.
    hash bytea PRIMARY KEY,
    name text NOT NULL,
    tenant text NOT NULL,
    -- Null: the account exists, and the link replaces its password and its one-time codes.
    role text CONSTRAINT account_invitation_role CHECK (role IN ('owner', 'operator', 'author', 'analyst', 'auditor', 'platform')),
    -- The author, as in `audit`.
    actor text NOT NULL,
    ends_at timestamptz NOT NULL
);
CREATE INDEX account_invitation_ends ON gateway.account_invitation (ends_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.account_invitation TO gateway_engine;

-- Wrong passwords and codes of an account or an address, over all nodes. Names that no account has are counted alike.
CREATE TABLE gateway.account_attempt (
    -- SHA-256 of `account NAME` or `address ADDRESS`.
    subject bytea PRIMARY KEY,
    failures integer NOT NULL DEFAULT 1,
    failed_at timestamptz NOT NULL DEFAULT now(),
    -- No attempt is read before.
    blocked_until timestamptz NOT NULL
);
CREATE INDEX account_attempt_failed ON gateway.account_attempt (failed_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.account_attempt TO gateway_engine;
