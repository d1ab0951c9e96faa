import Model
import NotificationHubs

/// The registrations that the gateway behind the adapter stores, with exactly the behavior for answering their
/// commands.
final class StoredRegistrations {
    private(set) var standings: [VendorDeviceKey: IdentityStanding] = [:]
    private(set) var registered: [DeviceRegistration] = []
    private var drawn = 0
    /// The number of writes that fail with a conflict.
    var conflicts = 0
    var settings = Mount.settings

    /// The answer to a request, with every step that it takes.
    func answer(_ request: VendorRequest) -> VendorResponse {
        do throws(AdapterError) {
            let settings = settings
            _ = try Mount.adapter.locate(request)
            var replies = try Mount.adapter.decode(request, settings: settings).map(reply)
            for _ in 0..<6 {
                let sequel = try Mount.adapter.sequel(to: replies, of: request, settings: settings)
                if sequel.isEmpty { break }
                let isLate = sequel.contains { if case .registration(.register) = $0 { conflicts > 0 } else { false } }
                if isLate { conflicts -= 1 }
                replies = sequel.map { isLate ? .refused(.outdated) : reply($0) }
            }
            return Mount.adapter.encode(replies, for: request, settings: settings)
        } catch {
            return Mount.adapter.refuse(error, for: request, settings: settings)
        }
    }

    /// Stores an installation.
    func put(_ key: VendorDeviceKey, _ standing: IdentityStanding) { standings[key] = standing }

    func expire(_ key: VendorDeviceKey) { standings[key]?.tokenState = .invalid }

    private func reply(_ command: Command) -> Reply {
        guard case .registration(let command) = command else { return .refused(.unsupported("")) }
        switch command {
        case .drawKey:
            drawn += 1
            return .registration(.drawn(VendorDeviceKey(String(repeating: "c\(drawn % 10)", count: 16))))
        case .standing(let key): return .registration(.standing(standings[key]))
        case .register(let registration): return register(registration)
        case .enlist(let registration, let change):
            guard case .registration(.registered(let made)) = register(registration) else {
                return .refused(.outdated)
            }
            if case .set(let user, _, _, _) = change { standings[made.key]?.user = user }
            return .registration(.enlisted(made, AssignedUser(user: nil)))
        case .unregister(.key(let key)):
            standings[key]?.state = .unregistered
            return .registration(.unregistered(1))
        case .listed(let filter, let from, let limit):
            let found = standings.filter { key, standing in
                standing.state == .active && standing.tokenState == .active && key.rawValue >= from?.rawValue ?? ""
                    && (filter == .all || standing.token.map { filter == .token($0) } ?? false)
            }
            let rows = found.sorted { $0.key.rawValue < $1.key.rawValue }.prefix(limit)
            return .registration(.listed(rows.map { ListedIdentity(key: $0.key, standing: $0.value) }))
        default: return .refused(.unsupported(""))
        }
    }

    private func register(_ registration: DeviceRegistration) -> Reply {
        registered.append(registration)
        let key = registration.key ?? "-"
        if let expected = registration.expected, standings[key]?.attributes != expected { return .refused(.outdated) }
        standings[key] = IdentityStanding(
            state: .active,
            token: registration.token ?? standings[key]?.token,
            user: nil,
            attributes: registration.attributes
        )
        return Mount.registered(key)
    }
}
