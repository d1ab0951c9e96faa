import Commands
import Model

// Users as back ends describe them.
extension PostgresCommandStore {
    private func parameters(_ tenant: TenantID, _ scope: AppScope) -> [PostgresValue] {
        [.id(tenant), .id(scope.app), .id(scope.vendor)]
    }

    func profiles(_ tenant: TenantID, _ scope: AppScope, _ names: [UserName]) -> StoreQuestion {
        var (ids, labels, aliases): ([String?], [String?], [String?]) = ([], [], [])
        for name in names {
            switch name {
            case .id(let id):
                ids.append(id.rawValue)
                labels.append(nil)
                aliases.append(nil)
            case .alias(let alias):
                ids.append(nil)
                labels.append(alias.label)
                aliases.append(alias.name)
            }
        }
        let statement = UserSQL.profiles.with(
            parameters(tenant, scope) + [.strings(ids), .strings(labels), .strings(aliases)]
        )
        let count = names.count
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            var found: [StoredProfile?] = Array(repeating: nil, count: count)
            for row in result {
                let place = try row.int("place") - 1
                guard found.indices.contains(place) else { throw PostgresError(.unexpectedRowCount) }
                found[place] = StoredProfile(
                    user: try row.id("user_id"),
                    isAnonymous: try row.bool("is_anonymous"),
                    acceptsPush: try row.optionalBool("accepts_push"),
                    isOptedIn: try row.bool("opted_in"),
                    attributes: try row.object("attributes"),
                    consents: ConsentCoding.read(try row.object("consents")),
                    revision: try row.int("revision")
                )
            }
            return .profiles(found)
        }
    }

    func knownTokens(_ tenant: TenantID, _ scope: AppScope, _ tokens: [DeviceToken]) -> StoreQuestion {
        let statement = UserSQL.knownTokens.with(parameters(tenant, scope) + [.strings(tokens.map(\.text))])
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            .tokens(Set(try result.rows { (row) throws(PostgresError) in DeviceToken(stored: try row.text("token")) }))
        }
    }

    func putUsers(_ tenant: TenantID, _ scope: AppScope, _ write: UserWrite) -> StoreQuestion {
        let statement = UserSQL.put.with(
            parameters(tenant, scope) + [
                .string(write.repeatKey),
                .strings(write.profiles.map(\.user.rawValue)), .bools(write.profiles.map(\.isAnonymous)),
                .bools(write.profiles.map(\.acceptsPush)),
                .strings(write.profiles.map { DocumentText.of($0.attributes) }),
                .ints(write.profiles.map(\.revision)),
                .strings(write.aliases.map(\.alias.label)), .strings(write.aliases.map(\.alias.name)),
                .strings(write.aliases.map(\.user.rawValue)),
                .strings(write.acts.map(\.user.rawValue)), .strings(write.acts.map(\.digest)),
                .strings(write.acts.map(\.kind.rawValue)), .strings(write.acts.map(\.name)),
                .times(write.acts.map(\.at)), .strings(write.acts.map { DocumentText.of($0.data) }),
                .strings(write.moves.map(\.from.rawValue)), .strings(write.moves.map(\.to.rawValue)),
                .bools(write.profiles.map(\.isOptedIn)),
                .strings(write.profiles.map { JSONWriter.text(ConsentCoding.json($0.consents)) }),
            ]
        )
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            .usersPut(isRepeat: try result.only().bool("is_repeat"))
        }
    }

    func userDetails(_ tenant: TenantID, _ scope: AppScope, _ detail: UserDetail, _ users: [UserID], _ limit: Int)
        -> StoreQuestion
    {
        let parameters = parameters(tenant, scope) + [.strings(users.map(\.rawValue)), .int(max(0, limit))]
        switch detail {
        case .aliases:
            return StoreQuestion(UserSQL.aliases.with(parameters)) { (result) throws(PostgresError) in
                .userAliases(
                    try result.rows { (row) throws(PostgresError) in
                        let alias = UserAlias(label: try row.text("label"), name: try row.text("name"))
                        return UsersOwn(user: try row.id("user_id"), value: alias)
                    }
                )
            }
        case .tallies:
            return StoreQuestion(UserSQL.tallies.with(parameters)) { (result) throws(PostgresError) in
                .userTallies(
                    try result.rows { (row) throws(PostgresError) in
                        let tally = ActTally(
                            kind: try row.word("kind"),
                            name: try row.text("name"),
                            count: try row.int("count"),
                            firstAt: try row.time("first_at"),
                            lastAt: try row.time("last_at")
                        )
                        return UsersOwn(user: try row.id("user_id"), value: tally)
                    }
                )
            }
        case .devices:
            return StoreQuestion(UserSQL.devices.with(parameters)) { (result) throws(PostgresError) in
                .userDevices(
                    try result.rows { (row) throws(PostgresError) in
                        let device = UserDevice(
                            key: try row.id("key"),
                            platform: try row.word("platform"),
                            token: try row.optionalText("token").map { DeviceToken(stored: $0) },
                            acceptsPush: try row.bool("accepts_push"),
                            attributes: try row.object("attributes")
                        )
                        return UsersOwn(user: try row.id("user_id"), value: device)
                    }
                )
            }
        case .messages(let members):
            let statement = UserSQL.messages.with(parameters + [.strings(members)])
            return StoreQuestion(statement) { (result) throws(PostgresError) in
                .userMessages(
                    try result.rows { (row) throws(PostgresError) in
                        let messages = SentMessages(
                            data: try row.object("data"),
                            lastAt: try row.time("last_at"),
                            isRead: try row.bool("is_read")
                        )
                        return UsersOwn(user: try row.id("user_id"), value: messages)
                    }
                )
            }
        }
    }

    func eraseUsers(_ tenant: TenantID, _ scope: AppScope, _ users: [UserID], _ actor: String) -> StoreQuestion {
        .counting(
            UserSQL.erase.with(parameters(tenant, scope) + [.strings(users.map(\.rawValue)), .string(actor)])
        )
    }
}
