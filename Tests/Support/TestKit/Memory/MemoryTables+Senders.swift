import Commands
import Model

extension MemoryTables {
    mutating func registerSender(_ tenant: TenantID, _ scope: AppScope, name: String, id: SenderID) -> SenderFacts {
        let known = senders.first { $0.key.tenant == tenant && $0.value.scope == scope && $0.value.name == name }
        if let known { return facts(known.value, isNew: false) }
        let row = SenderRow(id: id, scope: scope, name: name)
        senders[Scoped(tenant, SenderIndex(scope: scope, id: id))] = row
        return facts(row, isNew: true)
    }

    func senderFacts(_ tenant: TenantID, _ scope: AppScope, _ id: SenderID) -> SenderFacts? {
        senders[Scoped(tenant, SenderIndex(scope: scope, id: id))].map { facts($0, isNew: false) }
    }

    mutating func enrolSender(_ tenant: TenantID, _ scope: AppScope, _ id: SenderID, key: String) -> SenderFacts? {
        let index = Scoped(tenant, SenderIndex(scope: scope, id: id))
        guard var row = senders[index] else { return nil }
        let isNew = row.enrolmentKey == nil
        if isNew { row.enrolmentKey = key }
        senders[index] = row
        return facts(row, isNew: isNew)
    }

    private func facts(_ row: SenderRow, isNew: Bool) -> SenderFacts {
        SenderFacts(id: row.id, enrolmentKey: row.enrolmentKey, isNew: isNew, callbackURL: row.callback?.url)
    }

    mutating func setCallback(
        _ tenant: TenantID,
        _ scope: AppScope,
        _ id: SenderID,
        url: String?,
        now: Timestamp
    ) -> Int {
        let index = Scoped(tenant, SenderIndex(scope: scope, id: id))
        guard var row = senders[index] else { return 0 }
        row.callback = url.map {
            // A new address starts with what happens from now on; a changed one goes on where the old one was.
            CallbackRow(
                url: $0,
                cursor: row.callback?.cursor ?? Int64(events[tenant]?.count ?? 0),
                nextAt: now,
                epoch: row.callback?.epoch ?? 0
            )
        }
        senders[index] = row
        return 1
    }

    mutating func putVerification(
        _ tenant: TenantID,
        _ scope: AppScope,
        phone: String,
        _ codeHash: String,
        _ limits: VerificationLimits,
        at: Timestamp
    ) -> Bool {
        let index = Scoped(tenant, PhoneIndex(scope: scope, phone: phone))
        var row = verifications[index] ?? VerificationRow(sentAt: Timestamp(milliseconds: 0))
        row.sends.removeAll { $0 + .seconds(3600) <= at }
        if let last = row.sends.last, last + limits.resendAfter > at { return false }
        guard row.sends.count < limits.perHour else { return false }
        row.sends.append(at)
        row.codeHash = codeHash
        row.sentAt = at
        row.tries = 0
        verifications[index] = row
        return true
    }

    mutating func checkVerification(
        _ tenant: TenantID,
        _ scope: AppScope,
        phone: String,
        _ codeHash: String,
        _ limits: VerificationLimits,
        at: Timestamp
    ) -> Bool {
        let index = Scoped(tenant, PhoneIndex(scope: scope, phone: phone))
        guard var row = verifications[index], let expected = row.codeHash, row.sentAt + limits.validFor > at,
            row.tries < limits.maximumTries
        else { return false }
        row.tries += 1
        let matches = expected == codeHash
        if matches { row.codeHash = nil }
        verifications[index] = row
        return matches
    }
}
