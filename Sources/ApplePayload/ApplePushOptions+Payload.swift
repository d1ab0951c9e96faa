package import Model

extension ApplePushOptions {
    /// Builds the push of a message to a device that shows Apple's format.
    ///
    /// - Parameters:
    ///   - content: the content. With a raw payload (`raw`), the options may set only headers.
    ///   - custom: keys next to `aps`.
    ///   - collapseID: of the message.
    /// - Returns: the push.
    /// - Throws: `PushFault` with the field and the rule.
    package func push(_ content: Content, custom: JSONObject, collapseID: String?) throws(PushFault) -> PushPayload {
        let type = type ?? (content.isSilent ? .background : .alert)
        let collapseID = self.collapseID ?? collapseID
        if let raw = content.raw {
            return try RawPayload.push(
                JSONWriter.bytes(raw),
                type: type,
                priority: priority,
                collapseID: collapseID,
                expiresAt: expiresAt
            )
        }
        return try APNsPayload(body(content, type), custom: custom).push(
            type: type,
            priority: priority,
            collapseID: collapseID,
            expiresAt: expiresAt
        )
    }

    /// Returns the first rule of Apple that the push violates, or nil. It is checked when the message is accepted; the arguments are those of `push`.
    package func fault(in content: Content, custom: JSONObject, collapseID: String?) -> PushFault? {
        let payload: PushPayload
        do throws(PushFault) {
            payload = try push(content, custom: custom, collapseID: collapseID)
        } catch {
            return error
        }
        if content.raw != nil, hasMembers {
            return PushFault("raw", .notAllowed("with members of aps; write them into it"))
        }
        if let raw = content.raw?.object, let fault = RawPayload.fault(in: raw, type: payload.type) { return fault }
        if let fault = HeaderRules.priorityFault(payload.priority, payload.type.rule) { return fault }
        return payload.collapseID.flatMap { HeaderRules.collapseFault($0) }
    }

    // MARK: aps

    /// A push for widgets and controls has no alert; the rule of the type refuses one that has.
    private func body(_ content: Content, _ type: PushType) -> APNsPayload.Body {
        let aps = aps(content)
        return type.rule.body == .contentChanged && aps == Aps() ? .contentChanged : .notification(aps)
    }

    private func aps(_ content: Content) -> Aps {
        var aps = Aps(content)
        if !content.isSilent {
            show(content, in: &aps)
            // The app's service extension fetches the image.
            if content.media != nil, aps.alert != nil { aps.isContentMutable = true }
        }
        return added(to: aps)
    }

    /// The texts. A message without texts has no alert, and only the sound that it names.
    private func show(_ content: Content, in aps: inout Aps) {
        let alert = AlertContent(
            title: Self.text(title, content.title),
            subtitle: Self.text(subtitle, content.subtitle),
            body: Self.text(body, content.body),
            launchImage: launchImage
        )
        let showsText = alert.title != nil || alert.subtitle != nil || alert.body != nil
        aps.alert = showsText ? .detailed(alert) : nil
        if !showsText, content.sound == nil { aps.sound = nil }
    }

    private static func text(_ localized: Localized?, _ literal: String?) -> AlertText? {
        if let localized { return .localized(key: localized.key, arguments: localized.arguments) }
        return literal.flatMap { $0.isEmpty ? nil : .literal($0) }
    }

    private func added(to aps: Aps) -> Aps {
        var aps = aps
        if let interruptionLevel { aps.interruptionLevel = interruptionLevel }
        aps.relevanceScore = relevanceScore
        aps.targetContentID = targetContentID
        aps.filterCriteria = filterCriteria
        aps.urlArguments = urlArguments
        if isContentMutable { aps.isContentMutable = true }
        if isContentAvailable { aps.isContentAvailable = true }
        if let criticalVolume {
            var name = "default"
            if case .named(let own) = aps.sound { name = own }
            aps.sound = .critical(name: name, volume: criticalVolume)
        }
        return aps
    }

    // MARK: Other vendors' payloads

    /// A vendor's payload with these headers and, for an alert, with these members of `aps`. The vendor's push type and keys stay, because
    /// its SDK expects them; a priority that its type does not allow is left out.
    ///
    /// - Throws: `PushFault` if the payload exceeds the limit.
    package func amend(_ payload: PushPayload) throws(PushFault) -> PushPayload {
        let rule = payload.type.rule
        let allowed = priority.flatMap { rule.priorities.contains(number: $0) ? $0 : nil }
        var bytes = payload.bytes
        if hasMembers, payload.type == .alert, var document = (try? JSONParser.parse(bytes))?.object,
            let aps = document[AppleKey.aps]?.object
        {
            document[AppleKey.aps] = .object(added(to: aps))
            bytes = JSONWriter.bytes(.object(document))
            if let fault = RawPayload.sizeFault(bytes.count, limit: rule.maxPayloadBytes) { throw fault }
        }
        return PushPayload(
            bytes: bytes,
            type: payload.type,
            priority: allowed ?? payload.priority,
            collapseID: collapseID ?? payload.collapseID,
            expiresAt: expiresAt ?? payload.expiresAt,
            reduced: payload.reduced
        )
    }

    /// Adds these members to a vendor's dictionary. The vendor's texts stay, because its SDK may read them.
    private func added(to dictionary: JSONObject) -> JSONObject {
        var aps = dictionary
        let own = added(to: Aps())
        if let level = own.interruptionLevel { aps[AppleKey.interruptionLevel] = .string(level.rawValue) }
        if let score = own.relevanceScore { aps[AppleKey.relevanceScore] = .number(score.description) }
        if let id = own.targetContentID { aps[AppleKey.targetContentID] = .string(id) }
        if let criteria = own.filterCriteria { aps[AppleKey.filterCriteria] = .string(criteria) }
        if own.isContentMutable, aps[AppleKey.alert] != nil { aps[AppleKey.mutableContent] = 1 }
        if own.isContentAvailable { aps[AppleKey.contentAvailable] = 1 }
        if case .critical(_, let volume) = own.sound {
            let name = aps[AppleKey.sound]?.string ?? "default"
            aps[AppleKey.sound] = ["critical": 1, "name": .string(name), "volume": .number(volume.description)]
        }
        return aps
    }
}

extension VendorAdapter {
    /// The payload for one target, with the message's options for Apple.
    ///
    /// - Throws: `AdapterError` as `payload` does; `.withheld` for a push type that the vendor's SDK does not show.
    package func applePayload(
        for notification: Notification,
        to target: TargetFacts,
        settings: BindingSettings
    ) throws(AdapterError) -> PushPayload {
        // The native adapter applies the options itself.
        guard let stored = notification.content.apns, vendor != .native, target.destination.platform == .ios else {
            return try payload(for: notification, to: target, settings: settings)
        }
        let options = ApplePushOptions(stored: stored)
        if options.isForNativeOnly { throw AdapterError(.withheld) }
        let payload = try payload(for: notification, to: target, settings: settings)
        do throws(PushFault) { return try options.amend(payload) } catch {
            throw AdapterError(error, payload: "payload")
        }
    }
}
