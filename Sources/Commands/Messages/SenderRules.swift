import Model
import ObservationStore
import Store

/// The rules for back ends that send.
enum SenderRules {
    static func plan(_ command: SenderCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .register(let name): register(name, context)
        case .enrol(let id, let name, let address): enrol(id, name, address, context)
        case .adopt(let sender): adopt(sender, context)
        case .setCallback(let id, let url): setCallback(id, url, context)
        }
    }

    private static func register(_ name: String, _ context: RuleContext) -> Plan {
        guard !name.isEmpty, Storable.fits(name, CommandLimits.nameBytes) else { return .refused(.invalid("name")) }
        let isProven = context.call.isProvenSender
        let register = RegisterSender(context.scope, name: name, id: newSender(context), isProven: isProven)
        return Plan(AdmitSender(context.scope, name: name), register) { _, sender in
            sender.map { .sender(.registered($0.id)) } ?? .refused(.unauthorized)
        }
    }

    /// `SVR` and a random UUID: the form that RationalOwl's clients know (docs/contracts/rationalowl.md#8.1); for other clients it is opaque.
    private static func newSender(_ context: RuleContext) -> SenderID {
        let hex = Array(context.identifiers.randomHex(byteCount: 16))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
            String(hex.enumerated().filter { range.contains($0.offset) }.map(\.element))
        }
        return SenderID("SVR" + parts.joined(separator: "-"))
    }

    private static func enrol(
        _ id: SenderID,
        _ name: String?,
        _ address: String?,
        _ context: RuleContext
    ) -> Plan {
        guard Storable.isKey(id.rawValue) else { return .refused(.unknownSender) }
        guard Storable.fits(name, CommandLimits.nameBytes) else { return .refused(.invalid("name")) }
        guard Storable.fits(address, CommandLimits.nameBytes) else { return .refused(.invalid("address")) }
        let key = context.identifiers.randomHex(byteCount: 16)
        return Plan(EnrolSender(context.scope, id, key: key, name: name, address: address)) { sender in
            guard let sender, let key = sender.enrolmentKey else { return .refused(.unknownSender) }
            return .sender(.enrolled(key: key, isNew: sender.isNew))
        }
    }

    private static func adopt(_ sender: AdoptedSender, _ context: RuleContext) -> Plan {
        guard Storable.isKey(sender.id.rawValue) else { return .refused(.unknownSender) }
        let name = sender.name ?? sender.id.rawValue
        guard !name.isEmpty, Storable.fits(name, CommandLimits.nameBytes) else { return .refused(.invalid("name")) }
        guard Storable.fits(sender.address, CommandLimits.nameBytes) else { return .refused(.invalid("address")) }
        guard sender.enrolmentKey.map(Storable.isKey) ?? true else { return .refused(.invalid("key")) }
        return Plan(AdmitSender(context.scope, name: name), AdoptSender(context.scope, sender, name: name)) { _, _ in
            .sender(.registered(sender.id))
        }
    }

    private static func setCallback(_ id: SenderID, _ url: String?, _ context: RuleContext) -> Plan {
        guard Storable.isKey(id.rawValue) else { return .refused(.unknownSender) }
        if let url, !CallbackURL.isAcceptable(url) { return .refused(.invalid("url")) }
        return Plan(SetCallback(context.scope, id, url: url)) { count in
            count > 0 ? .sender(.callbackSet) : .refused(.unknownSender)
        }
    }
}
