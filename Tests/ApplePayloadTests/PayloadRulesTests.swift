import ApplePayload
import Model
import Testing

/// The refusals before sending, by field and rule. Source: docs/contracts/apns.md#6, docs/contracts/apns.md#10,
/// docs/contracts/apns.md#17.
struct PayloadRulesTests {
    private func fault(_ payload: APNsPayload, _ type: PushType = .alert) -> PushFault? {
        var encoder = PayloadEncoder()
        do throws(PushFault) {
            try encoder.encode(payload, for: type)
            return nil
        } catch {
            return error
        }
    }

    private func fault(_ aps: Aps, _ type: PushType = .alert) -> PushFault? { fault(APNsPayload(aps), type) }

    private func fault(_ activity: LiveActivity) -> PushFault? {
        fault(APNsPayload(.liveActivity(activity)), .liveActivity)
    }

    // "anything the user sees, hears, or a badge"
    @Test func alertPushHasTextSoundOrBadge() {
        #expect(fault(Aps(threadID: "t")) == PushFault("aps.alert", .missing))
        #expect(fault(Aps(alert: .text("Hi"))) == nil)
        #expect(fault(Aps(badge: 1)) == nil)
        #expect(fault(Aps(sound: .named("default"))) == nil)
        #expect(fault(Aps(), .voip) == nil)
        #expect(fault(Aps(), .location) == nil)
    }

    // "`aps` holds only `content-available: 1` (no alert/badge/sound)"
    @Test func backgroundPushHasOnlyContentAvailable() {
        func background(_ change: (inout Aps) -> Void) -> PushFault? {
            var aps = Aps(isContentAvailable: true)
            change(&aps)
            return fault(aps, .background)
        }
        #expect(background { _ in } == nil)
        #expect(background { $0.sound = .named("") } == nil)
        #expect(background { $0.isContentAvailable = false } == PushFault("aps.content-available", .missing))
        let changes: [(String, (inout Aps) -> Void)] = [
            ("alert", { $0.alert = .text("Hi") }), ("badge", { $0.badge = 1 }),
            ("sound", { $0.sound = .named("default") }),
            ("thread-id", { $0.threadID = "t" }), ("category", { $0.category = "c" }),
            ("mutable-content", { $0.isContentMutable = true }), ("target-content-id", { $0.targetContentID = "w" }),
            ("interruption-level", { $0.interruptionLevel = .active }), ("relevance-score", { $0.relevanceScore = 1 }),
            ("filter-criteria", { $0.filterCriteria = "f" }), ("url-args", { $0.urlArguments = [] }),
        ]
        for (name, change) in changes {
            #expect(background(change) == PushFault("aps.\(name)", .notAllowed("in a background push")))
        }
    }

    @Test func valuesStayInTheirRanges() {
        #expect(fault(Aps(badge: -1)) == PushFault("aps.badge", .outOfRange("0 or more")))
        for volume in [-0.1, 1.1, .nan, .infinity] {
            let aps = Aps(sound: .critical(name: "a", volume: volume))
            #expect(fault(aps) == PushFault("aps.sound.volume", .outOfRange("0.0 through 1.0")))
        }
        for volume in [0.0, 1.0] { #expect(fault(Aps(sound: .critical(name: "a", volume: volume))) == nil) }
        for score in [-0.1, 1.5, .nan, -.infinity] {
            #expect(
                fault(Aps(badge: 1, relevanceScore: score))
                    == PushFault("aps.relevance-score", .outOfRange("0.0 through 1.0"))
            )
        }
    }

    // "mutable-content: service extension runs (needs alert)"
    @Test func mutableContentNeedsAnAlert() {
        #expect(
            fault(Aps(badge: 1, isContentMutable: true))
                == PushFault("aps.mutable-content", .notAllowed("without an alert"))
        )
        #expect(fault(Aps(alert: .text("Hi"), isContentMutable: true)) == nil)
    }

    @Test func alertObjectHasAText() {
        let image = AlertContent(launchImage: "splash")
        #expect(fault(Aps(alert: .detailed(image))) == PushFault("aps.alert.body", .missing))
        let keyless = AlertText.localized(key: "", arguments: ["a"])
        #expect(
            fault(Aps(alert: .detailed(AlertContent(title: keyless)))) == PushFault("aps.alert.title-loc-key", .missing)
        )
        #expect(
            fault(Aps(alert: .detailed(AlertContent(subtitle: keyless))))
                == PushFault("aps.alert.subtitle-loc-key", .missing)
        )
        #expect(fault(Aps(alert: .detailed(AlertContent(body: keyless)))) == PushFault("aps.alert.loc-key", .missing))
    }

    @Test func bodyHasToBeOfItsTypesKind() {
        let update = APNsPayload(
            .liveActivity(LiveActivity(.update, timestamp: Timestamp(seconds: 1), contentState: JSONObject()))
        )
        let shown = APNsPayload(Aps(alert: .text("Hi")))
        #expect(fault(update, .alert) == PushFault("aps.event", .notAllowed("in a push of type alert")))
        #expect(
            fault(APNsPayload(.contentChanged), .voip)
                == PushFault("aps.content-changed", .notAllowed("in a push of type voip"))
        )
        #expect(
            fault(APNsPayload(.mdm(pushMagic: "m")), .alert) == PushFault("mdm", .notAllowed("in a push of type alert"))
        )
        #expect(fault(shown, .mdm) == PushFault("mdm", .missing))
        #expect(fault(shown, .liveActivity) == PushFault("aps.event", .missing))
        #expect(fault(shown, .widgets) == PushFault("aps.content-changed", .missing))
        #expect(fault(shown, .controls) == PushFault("aps.content-changed", .missing))
        for payload in [update, shown, APNsPayload(.contentChanged), APNsPayload(.mdm(pushMagic: "m"))] {
            #expect(fault(payload, .unknown("newkind")) == nil)
        }
        #expect(fault(APNsPayload(.mdm(pushMagic: "")), .mdm) == PushFault("mdm", .missing))
        let more = APNsPayload(.mdm(pushMagic: "m"), custom: ["k": 1])
        #expect(fault(more, .mdm) == PushFault("k", .notAllowed("in an mdm push")))
    }

    // MARK: Live Activities (docs/contracts/apns.md#10)

    private var start: LiveActivity {
        LiveActivity(
            .start(.init(attributesType: "T", attributes: JSONObject())),
            timestamp: Timestamp(seconds: 1),
            contentState: JSONObject(),
            alert: LiveActivity.Alert(title: "t", body: "b")
        )
    }

    @Test func startNeedsTypeStateAndAlert() {
        #expect(fault(start) == nil)
        var activity = start
        activity.alert = nil
        #expect(fault(activity) == PushFault("aps.alert", .missing))
        activity = start
        activity.contentState = nil
        #expect(fault(activity) == PushFault("aps.content-state", .missing))
        activity = start
        activity.event = .start(.init(attributesType: "", attributes: JSONObject()))
        #expect(fault(activity) == PushFault("aps.attributes-type", .missing))
    }

    @Test func updateNeedsAStateAndEndDoesNot() {
        let time = Timestamp(seconds: 1)
        #expect(fault(LiveActivity(.update, timestamp: time)) == PushFault("aps.content-state", .missing))
        #expect(fault(LiveActivity(.update, timestamp: time, contentState: JSONObject())) == nil)
        #expect(fault(LiveActivity(.end(), timestamp: time)) == nil)
    }

    @Test func timesAndScoresOfAnActivityAreChecked() {
        var activity = start
        activity.timestamp = Timestamp(milliseconds: 999)
        #expect(fault(activity) == PushFault("aps.timestamp", .outOfRange("seconds since 1970")))
        activity = start
        activity.staleDate = Timestamp(seconds: -1)
        #expect(fault(activity) == PushFault("aps.stale-date", .outOfRange("seconds since 1970")))
        activity = LiveActivity(.end(dismissalDate: Timestamp(seconds: -1)), timestamp: Timestamp(seconds: 1))
        #expect(fault(activity) == PushFault("aps.dismissal-date", .outOfRange("seconds since 1970")))
        // "any double, not limited to 0-1"
        activity = start
        activity.relevanceScore = 100
        #expect(fault(activity) == nil)
        activity.relevanceScore = .nan
        #expect(fault(activity) == PushFault("aps.relevance-score", .outOfRange("a finite number")))
        activity = start
        activity.alert = LiveActivity.Alert(title: "t", body: .localized(key: ""))
        #expect(fault(activity) == PushFault("aps.alert.body.loc-key", .missing))
    }

    // MARK: Outside aps

    @Test func customKeysAreNotApples() {
        func keys(_ names: [String]) -> PushFault? {
            fault(APNsPayload(Aps(badge: 1), custom: JSONObject(names.map { ($0, 1) })))
        }
        #expect(keys(["a", "b"]) == nil)
        #expect(keys(["a", "aps"]) == PushFault("aps", .notAllowed("as a key of your own")))
        #expect(keys((0..<6000).map { "\($0)" })?.reason == .payloadTooLarge)
    }

    @Test func customValuesAreJSON() {
        func value(_ json: JSON) -> PushFault? { fault(APNsPayload(Aps(badge: 1), custom: ["k": json])) }
        func nested(_ depth: Int) -> JSON { (0..<depth).reduce(JSON.null) { inner, _ in .array([inner]) } }
        for number in ["", "NaN", "01", "1.", "+1", "1e", " 1", "0x1"] {
            #expect(value(.number(number))?.field == "k")
        }
        #expect(value(nested(64)) == nil)
        #expect(value(nested(65)) == PushFault("k", .malformed("nested at most 64 deep")))
    }

    @Test func keyInAFaultIsCutAndCleaned() {
        let wild = "a\n\u{0}b" + String(repeating: "x", count: 500)
        let name = fault(APNsPayload(Aps(badge: 1), custom: [wild: .number("x")]))?.field ?? ""
        #expect(name.hasPrefix("abxxx"))
        #expect(name.count == 64)
    }

    // MARK: The whole push

    @Test func payloadBecomesAPushWithTheStandardsOfItsType() throws {
        let push = try APNsPayload(Aps(alert: .text("Hi"))).push(collapseID: "c")
        let bytes = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
        #expect(push == PushPayload(bytes: bytes, type: .alert, priority: 10, collapseID: "c"))
        #expect(try APNsPayload(Aps(isContentAvailable: true)).push(type: .background).priority == 5)
    }

    @Test func headersAreCheckedByType() throws {
        func fault(_ type: PushType = .alert, priority: Int = 10, collapseID: String? = nil, topic: String = "com.x")
            -> PushFault?
        {
            HeaderRules.fault(type: type, priority: priority, collapseID: collapseID, topic: topic)
        }
        #expect(fault() == nil)
        #expect(fault(.background) == PushFault("apns-priority", .outOfRange("5, 1"), .badPriority))
        let long = try #require(fault(collapseID: String(repeating: "c", count: 65)))
        #expect(long.field == "apns-collapse-id")
        #expect(long.rejection == Rejection(scope: .content, reason: "BadCollapseId", status: 0))
        #expect(fault(collapseID: " c")?.reason == .badCollapseID)
        #expect(fault(.unknown("a b"))?.reason == .invalidPushType)
        #expect(fault(topic: "")?.reason == .missingTopic)
        // The suffix is part of the length.
        let topic = String(repeating: "t", count: 240)
        #expect(fault(topic: topic) == nil)
        #expect(fault(.liveActivity, topic: topic)?.reason == .badTopic)
    }

    /// An alert object of a caller is forwarded unchanged if its members have the documented types.
    @Test func alertObjectOfACallerIsForwardedOrRefused() throws {
        func push(_ alert: JSONObject) throws(PushFault) -> PushPayload {
            try APNsPayload(Aps(alert: .dictionary(alert))).push()
        }
        let alert: JSONObject = ["title-loc-key": "T", "title-loc-args": ["a"], "title": "t", "new": [1]]
        #expect(try JSONParser.parse(try push(alert).bytes)["aps"]?["alert"] == .object(alert))
        #expect(throws: PushFault("aps.alert.title", .malformed("a string"))) { try push(["title": 1]) }
        #expect(throws: PushFault("aps.alert.loc-args", .malformed("a list of strings"))) {
            try push(["loc-args": ["a", 1]])
        }
    }

    @Test func faultWithoutAnAppleReasonIsARejectionOfTheContent() {
        let fault = PushFault("aps.badge", .outOfRange("0 or more"))
        #expect(fault.rejection == Rejection(scope: .content, reason: "InvalidPayload", status: 0))
        #expect(fault.description == "aps.badge must be 0 or more")
    }
}
