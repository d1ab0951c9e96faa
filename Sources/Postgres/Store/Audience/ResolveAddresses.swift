package import Model
package import PostgresClient

/// Finds the active identity of each address. For a phone and for a user it is the newest one of the highest level. The native dialect reaches the identities of all dialects.
///
/// The results are parallel to the addresses.
package struct ResolveAddresses: StoreRead {
    let scope: AppScope
    let addresses: [Address]

    package init(_ scope: AppScope, _ addresses: [Address]) {
        self.scope = scope
        self.addresses = addresses
    }

    /// Four lists of positions and values: phones, device keys, users, devices.
    private static let list = StoreSQL.tenant(
        branch("$4::bigint[], $5::text[]", "i.phone = q.value", .phone) + "\nUNION ALL\n"
            + branch("$6::bigint[], $7::text[]", "i.key = q.value") + "\nUNION ALL\n"
            + branch("$8::bigint[], $9::text[]", "i.user_id = q.value", .user) + "\nUNION ALL\n"
            + branch("$10::bigint[], $11::uuid[]", "i.device_id = q.value")
    )

    private static func branch(_ lists: String, _ condition: String, _ person: ResolvedTarget.Person? = nil) -> String {
        """
        SELECT q.place, r.* FROM unnest(\(lists)) AS q(place, value)
        CROSS JOIN LATERAL (\(newest(condition, person))) AS r
        """
    }

    // For a single address: without a list, the server can reuse one plan instead of planning each call.
    private static let phone = one("i.phone = $4", .phone)
    private static let key = one("i.key = $4")
    private static let user = one("i.user_id = $4", .user)
    private static let device = one("i.device_id = $4")

    private static func one(_ condition: String, _ person: ResolvedTarget.Person? = nil) -> StoreSQL {
        .tenant("SELECT 0::bigint AS place, r.* FROM (\(newest(condition, person))) AS r")
    }

    private static func newest(_ condition: String, _ person: ResolvedTarget.Person?) -> String {
        """
        SELECT \(ResolvedTarget.columns(of: person))
        FROM gateway.identity i LEFT JOIN gateway.device d ON d.tenant_id = $1 AND d.device_id = i.device_id
        WHERE i.tenant_id = $1 AND i.app_id = $2 AND ($3 = 'native' OR i.vendor = $3) AND i.state = 'active'
            AND \(condition)
        ORDER BY \(person == nil ? "" : ResolvedTarget.order + ", ")i.registered_at DESC, i.identity_id DESC LIMIT 1
        """
    }

    package func statement(_ call: StoreCall) -> Statement {
        let owner = call.owner(scope)
        guard addresses.count == 1, let address = addresses.first else {
            return Self.list.with(owner + AddressLists(addresses).parameters)
        }
        return switch address {
        case .phone(let phone): Self.phone.with(owner + [.string(phone)])
        case .deviceKey(let key): Self.key.with(owner + [.string(key.rawValue)])
        case .user(let user): Self.user.with(owner + [.string(user.rawValue)])
        case .device(let device): Self.device.with(owner + [.id(device)])
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
