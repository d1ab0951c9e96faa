import Commands
import DeliveryEngine
import FoundationEssentials
import Model

extension MemoryTables {
    mutating func draw(_ draw: BudgetDraw, now: Timestamp) -> Int32 {
        let tenant = draw.key.tenant
        var count = Int64(draw.count)
        let starts = draw.rates.map { rate in
            max(budgets[tenant]?[rate.budget] ?? now, now + (.zero - BudgetDraw.saved))
        }
        for (rate, start) in zip(draw.rates, starts) {
            count = min(count, (now + BudgetDraw.ahead - start).milliseconds * Int64(rate.perSecond) / 1000)
        }
        for (rate, start) in zip(draw.rates, starts) {
            let spent = Duration.milliseconds(max(0, count) * 1000 / Int64(rate.perSecond))
            budgets[tenant, default: [:]][rate.budget] = start + spent
        }
        return Int32(clamping: max(0, count))
    }

    func dueTenants(in lane: Lane, limit: Int, now: Timestamp) -> [TenantID] {
        let due = slices.values.filter { !$0.isFinished && $0.lease.lane == lane && $0.nextAt <= now }
        return Array(Set(due.map(\.lease.key.tenant)).sorted().prefix(max(0, limit)))
    }

    mutating func claim(
        _ tenant: TenantID,
        _ lane: Lane,
        limit: Int,
        by node: NodeID,
        until deadline: Timestamp,
        now: Timestamp
    ) -> [SliceLease] {
        let due = slices.values.filter { row in
            row.lease.key.tenant == tenant && row.lease.lane == lane && !row.isFinished && row.nextAt <= now
        }
        let keys = due.sorted { ($0.nextAt, $0.lease.key.number) < ($1.nextAt, $1.lease.key.number) }
            .prefix(max(0, limit)).map(\.lease.key)
        return keys.compactMap { key in
            guard var row = slices[key] else { return nil }
            row.lease.epoch += 1
            row.lease.followsLapse = row.owner != nil
            if row.lease.followsLapse { row.lease.lapses += 1 }
            row.owner = node
            row.nextAt = deadline
            row.heldBy = nil
            slices[key] = row
            begin(Scoped(tenant, key.message), row.lease.work)
            return row.lease
        }
    }

    private mutating func begin(_ message: Scoped<MessageID>, _ work: SliceLease.Work) {
        guard messages[message]?.state == .scheduled else { return }
        messages[message]?.state = work == .deliver ? .sending : .expanding
    }

    /// Whether `node` still holds the slice under the lease's epoch.
    func holds(_ lease: SliceLease, _ node: NodeID) -> Bool {
        guard let row = slices[lease.key] else { return false }
        return !row.isFinished && row.owner == node && row.lease.epoch == lease.epoch
    }

    mutating func renew(_ leases: [SliceLease], by node: NodeID, until deadline: Timestamp) -> Set<SliceKey> {
        let ours = leases.filter { holds($0, node) }.map(\.key)
        for key in ours { slices[key]?.nextAt = deadline }
        return Set(ours)
    }

    mutating func release(_ leases: [SliceLease], by node: NodeID, now: Timestamp) {
        for lease in leases where holds(lease, node) {
            slices[lease.key]?.owner = nil
            slices[lease.key]?.nextAt = now
            slices[lease.key]?.lease.epoch += 1
        }
    }

    mutating func resume(_ key: CredentialKey, now: Timestamp) {
        for (slice, row) in slices where slice.tenant == key.tenant && row.heldBy == key.credential {
            slices[slice]?.nextAt = now
            slices[slice]?.heldBy = nil
        }
    }

    mutating func load(_ lease: SliceLease, now: Timestamp) -> SliceWork? {
        let tenant = lease.key.tenant
        guard let row = messages[Scoped(tenant, lease.key.message)],
            let app = apps[Scoped(tenant, row.message.scope.app)]
        else { return nil }
        let open = lease.targets.indices.filter { !lease.isDone($0) }
        let known = open.compactMap { index in facts(tenant, lease.targets[index], now: now).map { (index, $0) } }
        var targets = Dictionary(known) { first, _ in first }
        if let step = row.message.content.badgeStep { takeBadges(tenant, row.message, step, &targets) }
        for (place, facts) in targets where facts.variant == nil {
            targets[place]?.variables = facts.person.user.flatMap { row.variables[$0] } ?? JSONObject()
            guard let user = facts.person.user else { continue }
            let scope = AppScope(app: facts.app, vendor: facts.vendor)
            let profile = profiles[Scoped(tenant, UserIndex(scope: scope, user: user))]?.profile
            if row.message.content.consent == .optedIn { targets[place]?.isOptedIn = profile?.isOptedIn ?? false }
            guard row.message.content.isTemplate else { continue }
            targets[place]?.person.attributes = profile?.attributes ?? JSONObject()
        }
        return SliceWork(
            app: row.message.scope.app,
            notification: notification(tenant, row.message),
            state: row.state,
            lane: row.message.lane,
            fallback: row.message.fallback,
            targets: targets,
            routes: app.routes,
            settings: app.settings,
            duplicates: duplicates(tenant, lease, known),
            timing: app.timing,
            localDue: row.message.localDue,
            capped: capped(tenant, row.message, app.timing, known, now: now)
        )
    }

    private func facts(_ tenant: TenantID, _ target: TargetID, now: Timestamp) -> TargetFacts? {
        let variant = variants[Scoped(tenant, target)]
        guard let identity = identities[Scoped(tenant, variant?.identity ?? IdentityID(target.rawValue))],
            let device = devices[Scoped(tenant, identity.device)]
        else { return nil }
        var facts = TargetFacts(
            target: target,
            identity: identity.id,
            device: device.id,
            app: identity.scope.app,
            vendor: identity.scope.vendor,
            key: identity.key,
            person: TargetPerson(user: identity.user, name: identity.name, phone: identity.phone),
            destination: PushDestination(
                platform: device.platform,
                environment: device.environment,
                token: device.token,
                tokenState: device.tokenState,
                tokenRegisteredAt: device.tokenRegisteredAt
            ),
            identityState: identity.endsAt.map { $0 <= now } ?? false ? .unregistered : identity.state,
            acceptsPush: identity.isRung,
            clock: device.clock
        )
        if let variant {
            guard Variants.of(identity.attributes).contains(where: { $0.name == variant.name }) else { return nil }
            facts.variant = variant.name
            facts.variables = identity.attributes
        }
        return facts
    }

    /// A target for each variant of `id` that the message means, or the identity itself.
    private mutating func targets(_ tenant: TenantID, _ id: IdentityID, _ content: Content) -> [TargetID] {
        guard let choice = content.variants else { return [TargetID(id)] }
        guard let row = identities[Scoped(tenant, id)] else { return [] }
        return Variants.of(row.attributes).filter { choice.matches(row.tags.union($0.tags)) }.map { name, _ in
            let known = variants.first { $0.key.tenant == tenant && $0.value == Variant(identity: id, name: name) }
            let target = known?.key.value ?? TargetID(rawValue: UUID())
            variants[Scoped(tenant, target)] = Variant(identity: id, name: name)
            return target
        }
    }

    private func duplicates(_ tenant: TenantID, _ lease: SliceLease, _ facts: [(Int, TargetFacts)]) -> Set<Int> {
        let own = Set(lease.targets)
        let others = (targetsByMessage[Scoped(tenant, lease.key.message)] ?? []).filter { !own.contains($0) }
        let rung = Set(
            others.compactMap { target -> DeviceID? in
                let row = deliveries[Scoped(tenant, DeliveryKey(message: lease.key.message, target: target))]
                guard let row, row.result.state == .sent else { return nil }
                return row.result.device
            }
        )
        return Set(facts.filter { $0.1.device.map(rung.contains) == true }.map(\.0))
    }

    mutating func expand(
        _ lease: SliceLease,
        by node: NodeID,
        pageSize: Int,
        now: Timestamp
    ) -> ExpansionResult {
        let index = Scoped(lease.key.tenant, lease.key.message)
        guard holds(lease, node), let row = messages[index], row.state != .canceled,
            case .expand(let after) = slices[lease.key]?.lease.work
        else { return .fenced }
        if row.state == .paused {
            release([lease], by: node, now: row.message.expiresAt)
            return .fenced
        }
        let rest = meantIdentities(lease.key.tenant, row.message.scope, row.message.audience).filter { id in
            after.map { id > $0 } ?? true
        }
        let rules = rules(lease.key.tenant, row.message)
        let isTimed = row.message.audience == nil && hasTimes(lease.key.tenant, row.message)
        let page = Array(rest.prefix(isTimed ? max(pageSize, min(pageSize * 10, 5000)) : max(1, pageSize)))
        guard let last = page.last else { return finishExpansion(lease, index) }
        let step = SliceLease.targetLimit / (row.message.content.variants == nil ? 1 : Variants.limit)
        for group in TimingRules.grouped(page, by: { rules.slot(clock(lease.key.tenant, $0), now: now) }) {
            for start in stride(from: 0, to: group.items.count, by: step) {
                let part = group.items[start..<min(start + step, group.items.count)]
                let number = (slicesByMessage[index] ?? []).max().map { $0 + 1 } ?? 1
                var message = row.message
                message.claim = nil
                var targets: [TargetID] = []
                for id in part { targets += self.targets(lease.key.tenant, id, message.content) }
                if targets.isEmpty { continue }
                let slice = NewSlice(number: number, work: .deliver, targets: targets, dueAt: group.due)
                insert(lease.key.tenant, slice, of: message, now: now)
            }
        }
        slices[lease.key]?.lease.work = .expand(after: last)
        // The last page ends it.
        if page.count == rest.count, row.message.content.variants == nil { return finishExpansion(lease, index) }
        return .page(page.count, after: last)
    }

    private mutating func finishExpansion(_ lease: SliceLease, _ index: Scoped<MessageID>) -> ExpansionResult {
        let numbers = slicesByMessage[index] ?? []
        let recipients = numbers.reduce(0) { count, number in
            let key = SliceKey(tenant: index.tenant, message: index.value, number: number)
            return count + (slices[key]?.lease.targets.count ?? 0)
        }
        messages[index]?.recipients = recipients
        messages[index]?.state = .sending
        finish(lease.key)
        return .finished(recipients: recipients)
    }

    /// Marks a slice finished, and its message done when it was the last.
    mutating func finish(_ key: SliceKey) {
        slices[key]?.isFinished = true
        slices[key]?.owner = nil
        settle(Scoped(key.tenant, key.message))
    }

    /// A message is done when no slice is open, and dead when all that are gave up.
    mutating func settle(_ index: Scoped<MessageID>) {
        let open = openSlices(index)
        switch messages[index]?.state {
        case .sending, .scheduled, .dead:
            messages[index]?.state = open.isEmpty ? .done : open.allSatisfy { $0.deadReason != nil } ? .dead : .sending
        case .paused where open.isEmpty: messages[index]?.state = .done
        default: break
        }
    }
}
