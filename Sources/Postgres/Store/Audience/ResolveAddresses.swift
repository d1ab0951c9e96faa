package import Model
package import PostgresClient

/// Finds the active identity of each address. For a phone and for a user it is the newest one of the highest level.
///
/// With a rule, as always for the native dialect, phones and users are those of every dialect of the app. The identity that is found leads to its device, and the
/// result is the identity of that device that receives the send (`ReceivingRule`); for a phone and for a user only one of the same person.
///
/// The results are parallel to the addresses.
package struct ResolveAddresses: StoreRead {
    let scope: AppScope
    let addresses: [Address]
    let rule: ReceivingRule?

    package init(_ scope: AppScope, _ addresses: [Address], by rule: ReceivingRule? = nil) {
        self.scope = scope
        self.addresses = addresses
        self.rule = rule ?? (scope.vendor == .native ? ReceivingRule() : nil)
    }

    /// The statements for single addresses, for which the server can reuse one plan instead of planning each call, and for lists.
    private struct Statements {
        var list: StoreSQL
        var phone: StoreSQL
        var key: StoreSQL
        var user: StoreSQL
        var device: StoreSQL
    }

    /// Identities of the caller's dialect.
    private static let plain = Statements(
        list: .tenant([persons(ownDialect), devices].joined(separator: "\nUNION ALL\n")),
        phone: .tenant(first("i.phone = $4", .phone, ownDialect)),
        key: .tenant(first("i.key = $4")),
        user: .tenant(first("i.user_id = $4", .user, ownDialect)),
        device: .tenant(first("i.device_id = $4"))
    )

    /// Receiving identities of any dialect.
    private static let receiving = Statements(
        list: .tenant(
            "WITH p AS (\n\(persons(allDialects))),\nd AS (\n\(devices))\n"
                + received("p", "\(preferred("$12", "$14")), true, $13") + "\nUNION ALL\n"
                + received("d", "\(preferred("$12", "$14")), false, $13")
        ),
        phone: one(first("i.phone = $4", .phone, allDialects), isPerson: true),
        key: one(first("i.key = $4"), isPerson: false),
        user: one(first("i.user_id = $4", .user, allDialects), isPerson: true),
        device: one(first("i.device_id = $4"), isPerson: false)
    )

    private static let ownDialect = "($3 = 'native' OR i.vendor = $3)"
    private static let allDialects = "$3 <> ''"

    /// Two lists of positions and values: phones and users.
    private static func persons(_ reach: String) -> String {
        branch("$4::bigint[], $5::text[]", "i.phone = q.value", .phone, reach) + "\nUNION ALL\n"
            + branch("$8::bigint[], $9::text[]", "i.user_id = q.value", .user, reach)
    }

    /// The same for keys of devices and for devices.
    private static let devices =
        branch("$6::bigint[], $7::text[]", "i.key = q.value") + "\nUNION ALL\n"
        + branch("$10::bigint[], $11::uuid[]", "i.device_id = q.value")

    private static func branch(
        _ lists: String,
        _ condition: String,
        _ person: ResolvedTarget.Person? = nil,
        _ reach: String = ownDialect
    ) -> String {
        """
        SELECT q.place, r.* FROM unnest(\(lists)) AS q(place, value)
        CROSS JOIN LATERAL (\(newest(condition, person, reach))) AS r
        """
    }

    private static func first(
        _ condition: String,
        _ person: ResolvedTarget.Person? = nil,
        _ reach: String = ownDialect
    ) -> String {
        "SELECT 0::bigint AS place, r.* FROM (\(newest(condition, person, reach))) AS r"
    }

    private static func newest(_ condition: String, _ person: ResolvedTarget.Person?, _ reach: String) -> String {
        """
        SELECT \(ResolvedTarget.columns(of: person))
        FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND \(reach) AND i.state = 'active'
            AND \(condition)
        ORDER BY \(person == nil ? "" : ResolvedTarget.order + ", ")i.registered_at DESC, i.identity_id DESC LIMIT 1
        """
    }

    private static func one(_ first: String, isPerson: Bool) -> StoreSQL {
        .tenant("WITH p AS (\n\(first))\n" + received("p", "\(preferred("$5", "$7")), \(isPerson), $6"))
    }

    /// The preferred dialects: those of the rule, and those that the rules of the app name for a lane.
    private static func preferred(_ list: String, _ lane: String) -> String {
        "\(list)::text[] || gateway.preferred_dialects($1, $2, \(lane))"
    }

    /// The receiving identities of the devices of the rows of `table`.
    private static func received(_ table: String, _ rule: String) -> String {
        """
        SELECT x.place, r.* FROM (
            SELECT array_agg(f.place ORDER BY f.place) AS places, array_agg(f.is_outranked ORDER BY f.place) AS outranked,
                gateway.receiving_identities($1, $2, array_agg(f.identity_id ORDER BY f.place), \(rule)) AS ids
            FROM \(table) AS f OFFSET 0) AS c
        CROSS JOIN LATERAL unnest(c.places, c.ids, c.outranked) AS x(place, id, is_outranked)
        CROSS JOIN LATERAL (
            SELECT \(ResolvedTarget.columns(isOutranked: "x.is_outranked"))
            FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
            WHERE i.tenant_id = $1 AND i.identity_id = x.id OFFSET 0) AS r
        """
    }

    package func statement(_ call: StoreCall) -> Statement {
        let owner = call.owner(scope)
        let sql = rule == nil ? Self.plain : Self.receiving
        let choice = rule?.parameters ?? []
        guard addresses.count == 1, let address = addresses.first else {
            return sql.list.with(owner + AddressLists(addresses).parameters + choice)
        }
        return switch address {
        case .phone(let phone): sql.phone.with(owner + [.string(phone)] + choice)
        case .deviceKey(let key): sql.key.with(owner + [.string(key.rawValue)] + choice)
        case .user(let user): sql.user.with(owner + [.string(user.rawValue)] + choice)
        case .device(let device): sql.device.with(owner + [.id(device)] + choice)
        }
    }

    package func read(_ result: ResultSet) throws(PostgresError) -> [ResolvedTarget?] {
        var resolved = [ResolvedTarget?](repeating: nil, count: addresses.count)
        for row in result {
            let place = try row.int("place")
            guard resolved.indices.contains(place) else { continue }
            resolved[place] = try ResolvedTarget.read(row)
        }
        return resolved
    }
}

/// Addresses grouped by kind, each with its position in the caller's list.
private struct AddressLists {
    private var phones: ([Int], [String]) = ([], [])
    private var keys: ([Int], [String]) = ([], [])
    private var users: ([Int], [String]) = ([], [])
    private var devices: ([Int], [DeviceID]) = ([], [])

    init(_ addresses: [Address]) {
        for (place, address) in addresses.enumerated() {
            switch address {
            case .phone(let phone): Self.add(place, phone, &phones)
            case .deviceKey(let key): Self.add(place, key.rawValue, &keys)
            case .user(let user): Self.add(place, user.rawValue, &users)
            case .device(let device): Self.add(place, device, &devices)
            }
        }
    }

    private static func add<Value>(_ place: Int, _ value: Value, _ list: inout ([Int], [Value])) {
        list.0.append(place)
        list.1.append(value)
    }

    /// The parameters in the order of the statement.
    var parameters: [PostgresValue] {
        [
            .ints(phones.0), .strings(phones.1), .ints(keys.0), .strings(keys.1), .ints(users.0), .strings(users.1),
            .ints(devices.0), .ids(devices.1),
        ]
    }
}
