internal import Bytes
package import Model

/// Writes typed payloads as UTF-8 JSON, into memory that is reused.
///
/// It must not be used by two threads at once. Each payload is first checked against the rules of its push type (`PayloadRules`), so that a payload that Apple
/// would refuse is never sent.
package struct PayloadEncoder: Sendable {
    /// The bytes of the last payload; valid until the next one, empty after a fault.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// A copy of `bytes` without spare capacity: a queue may hold very many copies.
    package func copy() -> [UInt8] { [UInt8](capacity: bytes.count) { $0.append(copying: bytes.span) } }

    /// Checks and writes one payload.
    ///
    /// - Parameters:
    ///   - payload: the payload to write.
    ///   - type: the push type, whose rules and limit apply.
    ///   - limit: replaces the type's own limit, as for a broadcast. Unit: bytes.
    /// - Throws: `PushFault` with the field and the rule; then `bytes` is empty.
    package mutating func encode(
        _ payload: APNsPayload,
        for type: PushType,
        limit: Int? = nil
    ) throws(PushFault) {
        bytes.removeAll(keepingCapacity: true)
        let rule = type.rule
        let limit = limit ?? rule.maxPayloadBytes
        do throws(PushFault) {
            if let fault = PayloadRules.kindFault(payload.body, rule) { throw fault }
            try bytes.append(addingCapacity: limit + 1) { (out) throws(PushFault) in
                try Self.write(payload.body, rule.body, into: &out)
                try Self.write(payload.custom, isMDM: rule.body == .mdm, into: &out)
                out.close("}")
            }
            guard bytes.count <= limit else { throw PushFault("payload", .tooLong(limit: limit), .payloadTooLarge) }
        } catch {
            bytes.removeAll(keepingCapacity: true)
            throw error
        }
    }

    /// Writes the body without its closing bracket. The rules are checked here, where the dictionary is read anyway.
    private static func write(
        _ body: borrowing APNsPayload.Body,
        _ expected: PushTypeRule.Body,
        into out: inout OutputSpan<UInt8>
    ) throws(PushFault) {
        switch body {
        case .notification(let aps):
            if let fault = PayloadRules.fault(in: aps, expected) { throw fault }
            try write(aps, into: &out)
        case .liveActivity(let activity):
            if let fault = PayloadRules.fault(in: activity) { throw fault }
            try write(activity, into: &out)
        case .contentChanged: out.raw(#"{"aps":{"content-changed":true},"#)
        case .mdm(let magic):
            if magic.isEmpty { throw PushFault("mdm", .missing) }
            out.raw("{")
            out.member(#""mdm":""#, magic)
        }
    }

    private static func write(
        _ custom: JSONObject,
        isMDM: Bool,
        into out: inout OutputSpan<UInt8>
    ) throws(PushFault) {
        guard let first = custom.pairs.first else { return }
        if isMDM { throw PushFault(PayloadRules.label(first.key), .notAllowed("in an mdm push")) }
        for (key, value) in custom.pairs {
            guard out.freeCapacity > 0 else { return }
            if key == AppleKey.aps { throw PushFault(key, .notAllowed("as a key of your own")) }
            out.json(key)
            out.raw(byte: ":")
            do throws(JSONTrouble) { try out.json(value) } catch { throw fault(PayloadRules.label(key), error) }
            out.raw(byte: ",")
        }
    }

    private static func fault(_ field: String, _ trouble: JSONTrouble) -> PushFault {
        switch trouble {
        case .tooDeep: PushFault(field, .malformed("nested at most \(JSONParser.maximumDepth) deep"))
        case .badNumber: PushFault(field, .malformed("JSON: a number does not follow the JSON grammar"))
        }
    }

    // MARK: Notifications

    private static func write(_ aps: borrowing Aps, into out: inout OutputSpan<UInt8>) throws(PushFault) {
        out.raw(#"{"aps":{"#)
        switch aps.alert {
        case .text(let text): out.member(#""alert":""#, text)
        case .detailed(let content): write(content, into: &out)
        case .dictionary(let object): try member(#""alert":"#, "aps.alert", object, into: &out)
        case nil: break
        }
        if let badge = aps.badge { out.member(#""badge":"#, Int64(badge)) }
        switch aps.sound {
        case .named(let name): out.member(#""sound":""#, name)
        case .critical(let name, let volume):
            out.raw(#""sound":{"critical":1,"name":"#)
            out.json(name)
            out.raw(#","volume":"#)
            out.json(volume)
            out.raw("},")
        case nil: break
        }
        if let id = aps.threadID { out.member(#""thread-id":""#, id) }
        if let category = aps.category { out.member(#""category":""#, category) }
        if aps.isContentAvailable { out.raw(#""content-available":1,"#) }
        if aps.isContentMutable { out.raw(#""mutable-content":1,"#) }
        if let id = aps.targetContentID { out.member(#""target-content-id":""#, id) }
        if let level = aps.interruptionLevel { out.member(#""interruption-level":""#, level.rawValue) }
        if let score = aps.relevanceScore { out.member(#""relevance-score":"#, score) }
        if let criteria = aps.filterCriteria { out.member(#""filter-criteria":""#, criteria) }
        if let arguments = aps.urlArguments {
            out.raw(#""url-args":"#)
            out.json(arguments)
            out.raw(byte: ",")
        }
        out.close("}")
        out.raw(byte: ",")
    }

    private static func write(_ content: AlertContent, into out: inout OutputSpan<UInt8>) {
        out.raw(#""alert":{"#)
        switch content.title {
        case .literal(let text): out.member(#""title":""#, text)
        case .localized(let key, let arguments):
            out.member(#""title-loc-key":""#, key, #""title-loc-args":"#, arguments)
        case nil: break
        }
        switch content.subtitle {
        case .literal(let text): out.member(#""subtitle":""#, text)
        case .localized(let key, let arguments):
            out.member(#""subtitle-loc-key":""#, key, #""subtitle-loc-args":"#, arguments)
        case nil: break
        }
        switch content.body {
        case .literal(let text): out.member(#""body":""#, text)
        case .localized(let key, let arguments): out.member(#""loc-key":""#, key, #""loc-args":"#, arguments)
        case nil: break
        }
        if let image = content.launchImage { out.member(#""launch-image":""#, image) }
        out.close("}")
        out.raw(byte: ",")
    }

    // MARK: Live Activities

    private static func write(_ activity: LiveActivity, into out: inout OutputSpan<UInt8>) throws(PushFault) {
        out.raw(#"{"aps":{"#)
        out.member(#""timestamp":"#, activity.timestamp.seconds)
        out.member(#""event":""#, activity.event.wireName)
        if let state = activity.contentState {
            try member(#""content-state":"#, "aps.content-state", state, into: &out)
        }
        switch activity.event {
        case .start(let start):
            out.member(#""attributes-type":""#, start.attributesType)
            try member(#""attributes":"#, "aps.attributes", start.attributes, into: &out)
            if start.asksForToken { out.raw(#""input-push-token":1,"#) }
            if let channel = start.channel { out.member(#""input-push-channel":""#, channel.text) }
        case .update: break
        case .end(let date):
            if let date { out.member(#""dismissal-date":"#, date.seconds) }
        }
        if let alert = activity.alert { write(alert, into: &out) }
        if let date = activity.staleDate { out.member(#""stale-date":"#, date.seconds) }
        if let score = activity.relevanceScore { out.member(#""relevance-score":"#, score) }
        out.close("}")
        out.raw(byte: ",")
    }

    private static func write(_ alert: LiveActivity.Alert, into out: inout OutputSpan<UInt8>) {
        out.raw(#""alert":{"#)
        for (key, text) in [(#""title":"#, alert.title), (#""body":"#, alert.body)] as [(StaticString, AlertText)] {
            out.raw(key)
            switch text {
            case .literal(let text): out.json(text, from: #"""#, to: #"","#)
            case .localized(let locKey, let arguments):
                out.raw("{")
                out.member(#""loc-key":""#, locKey, #""loc-args":"#, arguments)
                out.close("}")
                out.raw(byte: ",")
            }
        }
        if let sound = alert.sound { out.member(#""sound":""#, sound) }
        out.close("}")
        out.raw(byte: ",")
    }

    private static func member(
        _ key: StaticString,
        _ field: String,
        _ object: JSONObject,
        into out: inout OutputSpan<UInt8>
    ) throws(PushFault) {
        out.raw(key)
        do throws(JSONTrouble) { try out.json(object) } catch { throw fault(field, error) }
        out.raw(byte: ",")
    }
}

/// Appends members of an object: the key with its quotes and colon, the value, and a comma.
extension OutputSpan<UInt8> {
    fileprivate mutating func member(_ key: StaticString, _ text: String) {
        json(text, from: key, to: #"","#)
    }

    fileprivate mutating func member(_ key: StaticString, _ number: Int64) {
        raw(key)
        json(number)
        raw(byte: ",")
    }

    fileprivate mutating func member(_ key: StaticString, _ number: Double) {
        raw(key)
        json(number)
        raw(byte: ",")
    }

    /// Appends a localized text; the arguments are left out if there are none.
    fileprivate mutating func member(
        _ key: StaticString,
        _ text: String,
        _ argumentsKey: StaticString,
        _ arguments: [String]
    ) {
        member(key, text)
        guard !arguments.isEmpty else { return }
        raw(argumentsKey)
        json(arguments)
        raw(byte: ",")
    }
}
