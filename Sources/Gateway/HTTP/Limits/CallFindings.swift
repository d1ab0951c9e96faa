package import Model

/// The facts about a caller that the replies to its call show. Pure.
package struct CallFindings: Sendable, Hashable {
    /// How many identities the call created, or made active again.
    package private(set) var created = 0
    /// Whether the replies say nothing about the identities that the call created.
    package private(set) var isSilent = false
    /// Whether the call named a device, message or binding that does not exist.
    package private(set) var namedUnknown = false
    /// Whether nothing was refused.
    package private(set) var succeeded = true
    /// Whether the call looked for a device that is not registered, as the first step of a registration does. That is not a guess of a name, but the device is
    /// not known either.
    package private(set) var foundNobody = false
    /// The keys of devices that the call registered.
    package private(set) var registered: [VendorDeviceKey] = []

    package init(_ replies: [Reply]) {
        for reply in replies {
            switch reply {
            case .registration(.registered(let registered)), .registration(.enlisted(let registered, _)):
                add(registered)
            case .registration(.standing(let standing)): if standing?.state != .active { foundNobody = true }
            case .registration(.listed(let found)): if found.isEmpty { foundNobody = true }
            case .sender(.registered): created += 1
            case .user(.tracked): isSilent = true
            case .registration(.unregistered(0)), .registration(.verified(false, _)), .receipt(.orphan),
                .receipt(.acknowledged(false, _)):
                namedUnknown = true
            case .refused(let refusal):
                succeeded = false
                switch refusal {
                case .unknownDevice, .unknownMessage, .unknownSender, .unknownBinding: namedUnknown = true
                default: break  // says nothing about a name
                }
            default: break
            }
        }
    }

    /// An identity that replaces others counts too: it has a new key, or had ended.
    private mutating func add(_ registered: Registered) {
        self.registered.append(registered.key)
        if !registered.wasActive { created += 1 }
    }
}
