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

    /// Identities of the caller's dialect: the statements for single addresses, for which the server can reuse one plan instead of planning each call, and for
    /// lists.
    private enum Plain {
        static let list = StoreSQL.tenant([persons, devices].joined(separator: "\nUNION ALL\n"))
        static let phone = StoreSQL.tenant(first("i.phone = $4", .phone))
        static let key = StoreSQL.tenant(first("i.key = $4"))
        static let user = StoreSQL.tenant(first("i.user_id = $4", .user))
        static let device = StoreSQL.tenant(first("i.device_id = $4"))
    }

    /// Receiving identities of any dialect. A function, because its steps depend on each other, and on Citus only the coordinator has the functions that they call.
    private static let receiving = Routine<StoreCall, AddressSearch>("resolve_addresses", AddressSearch.declare)

    private static let ownDialect = "($3 = 'native' OR i.vendor = $3)"

    /// Two lists of positions and values: phones and users.
    private static let persons =
        branch("$4::bigint[], $5::text[]", "i.phone = q.value", .phone) + "\nUNION ALL\n"
        + branch("$8::bigint[], $9::text[]", "i.user_id = q.value", .user)

    /// The same for keys of devices and for devices.
    private static let devices =
        branch("$6::bigint[], $7::text[]", "i.key = q.value") + "\nUNION ALL\n"
        + branch("$10::bigint[], $11::uuid[]", "i.device_id = q.value")

    private static func branch(_ lists: String, _ condition: String, _ person: ResolvedTarget.Person? = nil) -> String {
        """
        SELECT q.place, r.* FROM unnest(\(lists)) AS q(place, value)
        CROSS JOIN LATERAL (\(newest(condition, person))) AS r
        """
    }

    private static func first(_ condition: String, _ person: ResolvedTarget.Person? = nil) -> String {
        "SELECT 0::bigint AS place, r.* FROM (\(newest(condition, person))) AS r"
    }

    private static func newest(_ condition: String, _ person: ResolvedTarget.Person?) -> String {
        """
        SELECT \(ResolvedTarget.columns(of: person))
        FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND \(ownDialect) AND i.state = 'active'
            AND \(condition)
        ORDER BY \(person == nil ? "" : ResolvedTarget.order + ", ")i.registered_at DESC, i.identity_id DESC LIMIT 1
        """
    }

    package func statement(_ call: StoreCall) -> Statement {
        if let rule {
            return Self.receiving(call, AddressSearch(scope: scope, lists: AddressLists(addresses), rule: rule))
        }
        let owner = call.owner(scope)
        guard addresses.count == 1, let address = addresses.first else {
            return Plain.list.with(owner + AddressLists(addresses).parameters)
        }
        return switch address {
        case .phone(let phone): Plain.phone.with(owner + [.string(phone)])
        case .deviceKey(let key): Plain.key.with(owner + [.string(key.rawValue)])
        case .user(let user): Plain.user.with(owner + [.string(user.rawValue)])
        case .device(let device): Plain.device.with(owner + [.id(device)])
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

/// Addresses whose receiving identities are searched.
private struct AddressSearch: Sendable {
    var scope: AppScope
    var lists: AddressLists
    var rule: ReceivingRule

    static func declare(_ p: inout RoutineParameters<StoreCall, Self>) {
        p.own { $0.scope }
        p["p_phone_places"] = { .ints($1.lists.phones.0) }
        p["p_phones"] = { .strings($1.lists.phones.1) }
        p["p_key_places"] = { .ints($1.lists.keys.0) }
        p["p_keys"] = { .strings($1.lists.keys.1) }
        p["p_user_places"] = { .ints($1.lists.users.0) }
        p["p_users"] = { .strings($1.lists.users.1) }
        p["p_device_places"] = { .ints($1.lists.devices.0) }
        p["p_devices"] = { .ids($1.lists.devices.1) }
        p["p_prefer"] = { .strings($1.rule.preferred.map(\.rawValue)) }
        p["p_all"] = { .bool($1.rule.includesWithdrawn) }
        p["p_lane"] = { .string($1.rule.lane.map { "\($0)" }) }
    }
}

/// Addresses grouped by kind, each with its position in the caller's list.
private struct AddressLists: Sendable {
    private(set) var phones: ([Int], [String]) = ([], [])
    private(set) var keys: ([Int], [String]) = ([], [])
    private(set) var users: ([Int], [String]) = ([], [])
    private(set) var devices: ([Int], [DeviceID]) = ([], [])

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
