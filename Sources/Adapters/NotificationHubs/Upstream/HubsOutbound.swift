import HTTPTypes
import Model

/// The calls that send a message through the vendor's hub.
///
/// A target with a token is named by its handle, in batches; one without is named by its installation, because the vendor may know a newer token. A template is filled by
/// the vendor where its installation and its name select it alone, and by the gateway otherwise. Registrations without a usable token, and devices of other platforms than
/// Apple's, cannot be named: they are in no call. Neither are targets whose template cannot be filled.
struct HubsOutbound {
    let targets: [TargetFacts]
    let hub: String
    let settings: HubsSettings
    let time: Timestamp

    /// - Throws: `AdapterError` for a message that no hub can send.
    func calls(for notification: Notification) throws(AdapterError) -> [UpstreamCall] {
        guard notification.content.activity == nil else { throw AdapterError(.invalid, field: "activity") }
        let places = targets.indices.filter { targets[$0].destination.platform == .ios }
        if notification.origin == .notificationHubs, notification.content.variants != nil {
            return templates(of: notification, places)
        }
        let send = try send(notification)
        let reachable = places.filter { targets[$0].destination.usableToken != nil }
        let others = places.filter { targets[$0].destination.usableToken == nil && installation($0) != nil }
        return byHandle(send, reachable) + byInstallation(send, others)
    }

    private func send(_ notification: Notification) throws(AdapterError) -> HubsSend {
        if let own = HubsSend(notification, topic: settings.topic) { return own }
        return HubsSend(
            try HubsPayload(notification).encoded(),
            // The vendor's own half hour applies to a send of this dialect that names no expiry.
            end: notification.origin == .notificationHubs ? nil : notification.expiresAt,
            topic: settings.topic
        )
    }

    // MARK: Handles

    private func byHandle(_ send: HubsSend, _ places: [Int]) -> [UpstreamCall] {
        // An installation and a registration may have one token: the vendor pushes to it once per call.
        let handles = grouped(places) { targets[$0].destination.usableToken?.text ?? "" }
        var calls: [UpstreamCall] = []
        var pending: [(handle: String, places: [Int])] = []
        var size = 0
        func close() {
            if !pending.isEmpty { calls.append(batch(send, pending)) }
            pending = []
            size = 0
        }
        for (handle, places) in handles {
            let own = handle.utf8.count + Self.separatorBytes
            if pending.count == HubsLimits.batchCount || size + own > HubsLimits.handleBytes { close() }
            pending.append((handle, places))
            size += own
        }
        close()
        return calls
    }

    /// Quotes and a comma.
    private static let separatorBytes = 3

    private func batch(_ send: HubsSend, _ handles: [(handle: String, places: [Int])]) -> UpstreamCall {
        let form = BatchForm(send.body, to: handles.map(\.handle))
        let request = VendorRequest(
            route: Self.route,
            method: .post,
            path: "/\(PercentCoding.encode(hub))/messages/$batch",
            query: "\(Self.version)&direct",
            headers: send.fields(contentType: form.contentType),
            body: form.bytes,
            receivedAt: time
        )
        return UpstreamCall(request, targets: handles.flatMap(\.places))
    }

    private static let route = "hubs.message"
    private static let version = "api-version=2017-04"

    // MARK: Installations

    private func byInstallation(_ send: HubsSend, _ places: [Int]) -> [UpstreamCall] {
        parts(of: places, HubsLimits.installationsPerSend).map { part in
            call(send, tags: part.compactMap(installation).joined(separator: " || "), part)
        }
    }

    private func call(_ send: HubsSend, tags: String, _ places: [Int]) -> UpstreamCall {
        let request = VendorRequest(
            route: Self.route,
            method: .post,
            path: "/\(PercentCoding.encode(hub))/messages",
            query: Self.version,
            headers: send.fields(contentType: "application/json;charset=utf-8", tags: tags),
            body: send.body,
            receivedAt: time
        )
        return UpstreamCall(request, targets: places)
    }

    /// The tag of an installation; nil: the target is a registration or a handle.
    private func installation(_ place: Int) -> String? {
        let key = targets[place].key.rawValue
        return Installation.isIdentifier(key) ? "$InstallationId:{\(key)}" : nil
    }

    // MARK: Templates

    private func templates(of notification: Notification, _ places: [Int]) -> [UpstreamCall] {
        var calls: [UpstreamCall] = []
        if let send = HubsSend(notification, topic: settings.topic) {
            let named = places.filter { templateTag($0) != nil }
            for (tag, places) in grouped(named, by: { templateTag($0) ?? "" }) {
                for part in parts(of: places, HubsLimits.installationsPerTemplate) {
                    let ids = part.compactMap(installation).joined(separator: " || ")
                    calls.append(call(send, tags: part.count > 1 ? "(\(ids)) && \(tag)" : "\(ids) && \(tag)", part))
                }
            }
        }
        let others = places.filter { templateTag($0) == nil && targets[$0].destination.usableToken != nil }
        let filled = grouped(others) { filledSend(notification, targets[$0]) }
        for (send, places) in filled {
            if let send { calls += byHandle(send, places) }
        }
        return calls
    }

    /// The tag of the target's template; nil if the vendor would send other templates of the installation for it too, or cannot find it by a tag.
    private func templateTag(_ place: Int) -> String? {
        let target = targets[place]
        guard installation(place) != nil, let name = target.variant, let tag = Tag(name), !tag.isSystem else {
            return nil
        }
        func has(_ list: JSON?) -> Bool { (list?.array ?? []).contains { $0.string.flatMap { Tag($0) } == tag } }
        let others = (target.variables["templates"]?.object?.pairs ?? []).filter { $0.key != name }
        guard !has(target.variables["tags"]), !others.contains(where: { Tag($0.key) == tag || has($0.value["tags"]) })
        else { return nil }
        return name
    }

    /// Nil: the template cannot be filled.
    private func filledSend(_ notification: Notification, _ target: TargetFacts) -> HubsSend? {
        guard let template = TemplatePush(notification, target),
            let push = try? HubsPayload(notification).encoded(by: template)
        else { return nil }
        return HubsSend(push, end: nil, topic: settings.topic)
    }

    // MARK: Lists

    /// The places by their keys, in the order in which each key first occurs.
    private func grouped<Key: Hashable>(_ places: [Int], by key: (Int) -> Key) -> [(key: Key, places: [Int])] {
        var groups: [(key: Key, places: [Int])] = []
        var known: [Key: Int] = [:]
        for place in places {
            let own = key(place)
            if let index = known[own] {
                groups[index].places.append(place)
            } else {
                known[own] = groups.count
                groups.append((own, [place]))
            }
        }
        return groups
    }

    private func parts(of places: [Int], _ size: Int) -> [[Int]] {
        stride(from: 0, to: places.count, by: size).map { Array(places[$0..<min(places.count, $0 + size)]) }
    }
}
