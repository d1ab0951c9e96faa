import Model
import Store

/// The rules for badges that the server counts, and for receipts that change them.
enum BadgeRules {
    /// 1,000: the maximum that a caller may set (docs/contracts/upmc.md#1.8.11).
    static let maximum = 1000

    static func plan(_ command: BadgeCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .set(let count, let holder):
            if let count, !(0...maximum).contains(count) { return .refused(.invalid("badge")) }
            guard isStorable(holder) else { return .refused(.unknownDevice) }
            return Plan(SetBadge(context.scope, holder, count)) { badge in
                badge.map { .badge(.count($0)) } ?? .refused(.unknownDevice)
            }
        }
    }

    /// Records a receipt by message number. An unknown message makes the receipt an orphan, as in other calls. A badge over the limit is refused,
    /// because it would be stored.
    static func acknowledge(
        _ kind: ReceiptKind,
        _ reference: String,
        _ holder: BadgeHolder,
        _ change: BadgeChange?,
        _ context: RuleContext
    ) -> Plan {
        if case .set(let count)? = change, !(0...maximum).contains(count) { return .refused(.invalid("badge")) }
        guard isStorable(holder), Storable.isKey(reference) else {
            // Nobody, or no message: the store counts the receipt and changes no badge.
            let holder = isStorable(holder) ? holder : BadgeHolder()
            let orphan = AcknowledgeMessage(context.scope, .number(""), holder, kind, nil, at: context.now)
            return Plan(orphan) { _ in .receipt(.acknowledged(isKnown: false, badge: 0)) }
        }
        let message = MessageID(text: reference).map { AcknowledgeMessage.Reference.id($0) } ?? .number(reference)
        return Plan(AcknowledgeMessage(context.scope, message, holder, kind, change, at: context.now)) { answer in
            .receipt(.acknowledged(isKnown: answer.reply != .orphan, badge: answer.badge))
        }
    }

    /// Whether the holder is named, by values that can be stored.
    private static func isStorable(_ holder: BadgeHolder) -> Bool {
        guard holder.key != nil || holder.token != nil || holder.user != nil else { return false }
        return holder.key.map { Storable.isKey($0.rawValue) } ?? true
            && holder.user.map { Storable.isKey($0.rawValue) } ?? true
    }
}
