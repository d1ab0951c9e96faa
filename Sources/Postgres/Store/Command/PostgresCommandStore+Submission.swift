import Commands
import DeliveryEngine
import Model

// Submissions.
extension PostgresCommandStore {
    func app(_ tenant: TenantID, _ scope: AppScope) -> StoreQuestion {
        StoreQuestion(
            SubmissionSQL.app(.id(tenant), .id(scope.app), .id(scope.vendor))
        ) { (result) throws(PostgresError) in
            guard let row = result.first else { return .app(nil) }
            let routes = PlatformRouteCoding.decode(try row.object("platforms"))
            return .app(
                AppFacts(
                    hasCredential: routes.values.contains { !$0.credentials.isEmpty },
                    identityCount: try row.int("identities"),
                    timing: TimingCoding.read(try row.object("defaults")),
                    dialects: Set(try row.texts("dialects").map { Vendor($0) })
                )
            )
        }
    }

    func resolve(_ tenant: TenantID, _ scope: AppScope, _ addresses: [Address]) -> StoreQuestion {
        let caller: [PostgresValue] = [.id(tenant), .id(scope.app), .id(scope.vendor)]
        let statement =
            if addresses.count == 1, let address = addresses.first {
                Self.resolve(address, caller)
            } else {
                SubmissionSQL.resolve.with(caller + AddressLists(addresses).parameters)
            }
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            var resolved = [ResolvedTarget?](repeating: nil, count: addresses.count)
            for row in result {
                let place = try row.int("place")
                guard resolved.indices.contains(place) else { continue }
                resolved[place] = ResolvedTarget(
                    identity: try row.id("identity_id"),
                    device: try row.optionalID("device_id"),
                    isReachable: try row.bool("is_reachable"),
                    clock: try ClockRow.read(row)
                )
            }
            return .resolved(resolved)
        }
    }

    private static func resolve(_ address: Address, _ caller: [PostgresValue]) -> Statement {
        switch address {
        case .phone(let phone): SubmissionSQL.resolvePhone.with(caller + [.string(phone)])
        case .deviceKey(let key): SubmissionSQL.resolveKey.with(caller + [.string(key.rawValue)])
        case .user(let user): SubmissionSQL.resolveUser.with(caller + [.string(user.rawValue)])
        case .device(let device): SubmissionSQL.resolveDevice.with(caller + [.id(device)])
        }
    }

    func resolveUsers(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ users: [UserID],
        _ limit: Int,
        by sql: StoreSQL = SubmissionSQL.resolveUsers
    ) -> StoreQuestion {
        let statement = sql(
            .id(tenant),
            .id(scope.app),
            .id(scope.vendor),
            .strings(users.map(\.rawValue)),
            .int(max(0, limit))
        )
        return StoreQuestion(statement) { (result) throws(PostgresError) in
            let found = try result.rows { (row) throws(PostgresError) in
                let target = ResolvedTarget(
                    identity: try row.id("identity_id"),
                    device: try row.optionalID("device_id"),
                    isReachable: try row.bool("is_reachable"),
                    clock: try ClockRow.read(row)
                )
                return (try row.int("place"), UserTarget(user: try row.id("user_id"), found: target))
            }
            let order = found.sorted { ($0.0, $0.1.found.identity) < ($1.0, $1.1.found.identity) }
            return .resolvedUsers(order.map(\.1))
        }
    }

    func accept(_ tenant: TenantID, _ message: NewMessage) -> StoreQuestion {
        StoreQuestion(
            SubmissionSQL.accept.with(AcceptanceParameters.of(message, tenant: tenant, node: node))
        ) { (result) throws(PostgresError) in
            let row = try result.only()
            switch try row.text("outcome") {
            case "inserted": return .accepted(.inserted)
            case "repeated":
                return .accepted(.repeated(try row.id("message_id"), recipients: try row.optionalInt("recipients")))
            default: return .accepted(.mismatch)
            }
        }
    }

    func control(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ message: MessageID,
        _ control: MessageControl,
        _ actor: String?
    ) -> StoreQuestion {
        .counting(
            SubmissionSQL.control(
                .id(tenant),
                .id(scope.app),
                .id(scope.vendor),
                .id(message),
                .text(control.rawValue),
                .string(actor),
                .text(AuditAction(control).rawValue)
            )
        )
    }
}

/// Addresses by kind, each with its place in the caller's list.
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

    /// In the order of `SubmissionSQL.resolve`.
    var parameters: [PostgresValue] {
        [
            .ints(phones.0), .strings(phones.1), .ints(keys.0), .strings(keys.1), .ints(users.0), .strings(users.1),
            .ints(devices.0), .ids(devices.1),
        ]
    }
}
