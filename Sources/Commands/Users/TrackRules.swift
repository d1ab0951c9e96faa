import Model
import Store

/// The rules for a batch of attributes and acts of users.
struct TrackRules: Sendable {
    let batch: UserBatch
    let context: RuleContext

    /// Each name once, in an order that is the same for equal batches.
    private var names: [UserName] {
        let all = batch.patches.compactMap(\.user) + batch.acts.map(\.user)
        return Set(all.filter(ProfileRules.isStorable)).sorted { $0.text < $1.text }
    }

    /// Tokens without a user; only those not yet registered are accepted.
    private var tokens: [DeviceToken] {
        let devices = batch.patches.filter { $0.user == nil }.flatMap(\.devices)
        return Set(devices.compactMap(\.token)).sorted { $0.text < $1.text }
    }

    var plan: UserPlan {
        guard batch.acts.count <= CommandLimits.actsPerCall else {
            return .refused(.tooMany("acts", limit: CommandLimits.actsPerCall))
        }
        guard batch.patches.count <= CommandLimits.usersPerCall else {
            return .refused(.tooMany("patches", limit: CommandLimits.usersPerCall))
        }
        guard batch.patches.reduce(0, { $0 + $1.devices.count }) <= CommandLimits.commandsPerCall else {
            return .refused(.tooMany("devices", limit: CommandLimits.commandsPerCall))
        }
        let (names, tokens) = (names, tokens)
        let profiles = StoreRequest(FindProfiles(context.scope, names)) { (profiles: $0, known: Set<DeviceToken>()) }
        let found =
            tokens.isEmpty ? profiles : profiles.adding(FindKnownTokens(context.scope, tokens)) { $0.known = $1 }
        return found.map { found in plan(Drafts(names, found.profiles, context.identifiers), found.known) }
    }

    private func plan(_ start: Drafts, _ known: Set<DeviceToken>) -> Plan {
        var drafts = start
        var devices: [StoreRequest<Registered>] = []
        let patches = batch.patches.map { patch($0, known, &drafts, &devices) }
        var acts: [UserWrite.Act] = []
        var places: [String: Int] = [:]
        let refusals = batch.acts.map { act($0, &drafts, &acts, &places) }
        let write = UserWrite(
            repeatKey: batch.repeatKey,
            profiles: drafts.profiles,
            aliases: drafts.aliases,
            acts: acts
        )
        let reply = Reply.user(.tracked(patches: patches, acts: refusals))
        let registering = StoreRequest.all(devices).map { _ in reply }
        // Devices first, so that the users' decisions apply to the new ones too.
        return write.isEmpty ? registering : registering.adding(PutUsers(context.scope, write))
    }

    private func patch(
        _ patch: UserPatch,
        _ known: Set<DeviceToken>,
        _ drafts: inout Drafts,
        _ devices: inout [StoreRequest<Registered>]
    ) -> Refusal? {
        if let name = patch.user, !ProfileRules.isStorable(name) { return .invalid("user") }
        if patch.updatesOnly, let name = patch.user, drafts.user(name) == nil { return nil }
        for device in patch.devices {
            if let field = device.unstorableField { return .invalid(field) }
        }
        guard let name = patch.user else {
            let new = patch.devices.filter { device in device.token.map { !known.contains($0) } ?? false }
            devices += new.compactMap { try? RegistrationRules.request($0, context).get() }
            return nil
        }
        var trial = drafts
        let user = trial.userOrNew(name)
        var profile = trial[user]
        switch AttributeEditing.apply(patch.changes, to: profile.attributes) {
        case .failure(let fault): return .invalid("attributes.\(fault.attribute)")
        case .success(let attributes): profile.attributes = attributes
        }
        guard profile.consent(to: patch.consents) else { return .invalid("consents") }
        if let acceptsPush = patch.acceptsPush { profile.acceptsPush = acceptsPush }
        if let isOptedIn = patch.isOptedIn { profile.isOptedIn = isOptedIn }
        if profile.acceptsPush == false { profile.isOptedIn = false }
        trial[user] = profile
        if patch.devices.isEmpty { trial.keep(user) }
        for device in patch.devices {
            var device = device
            device.user = user
            if let request = try? RegistrationRules.request(device, context).get() { devices.append(request) }
        }
        if !patch.devices.isEmpty, profile.acceptsPush != nil { trial.touch(user) }
        drafts = trial
        return nil
    }

    private func act(
        _ act: UserAct,
        _ drafts: inout Drafts,
        _ acts: inout [UserWrite.Act],
        _ places: inout [String: Int]
    ) -> Refusal? {
        guard ProfileRules.isStorable(act.user) else { return .invalid("user") }
        guard !act.name.isEmpty, Storable.fits(act.name, CommandLimits.actNameBytes) else { return .invalid("name") }
        guard Storable.fits(.object(act.data), CommandLimits.actBytes) else { return .invalid("data") }
        if act.updatesOnly, drafts.user(act.user) == nil { return nil }
        let user = drafts.userOrNew(act.user)
        drafts.keep(user)
        let parts = [
            act.kind.rawValue, act.name, String(act.at.milliseconds), JSONWriter.text(.object(act.data)),
        ]
        let text = JSONWriter.text(.array(parts.map { .string($0) }))
        // Equal acts in one batch are all kept; each keeps its place when the batch is repeated.
        let own = "\(user)\u{1F}\(text)"
        let place = places[own, default: 0]
        places[own] = place + 1
        let digest = context.identifiers.sha256(Array("\(place)\u{1F}\(text)".utf8)).prefix(32)
        acts.append(
            UserWrite.Act(
                user: user,
                digest: String(digest),
                kind: act.kind,
                name: act.name,
                at: act.at,
                data: act.data
            )
        )
        return nil
    }
}
