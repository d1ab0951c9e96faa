import Foundation
import Model
import Testing

@testable import ConsoleDelivery
@testable import PageParts
@testable import WebConsole

struct OverviewPageTests {
    private let page = OverviewPage()

    // MARK: Answers, in the shapes of docs/metrics.md and docs/native-api.md

    private static func counts(_ values: KeyValuePairs<String, Int64>) -> JSON {
        .object(JSONObject(values.map { ($0.key, JSON.int($0.value)) }))
    }

    private static let week = counts([
        "targets": 1_260_114, "suppressed": 36_419, "canceled": 0, "expired": 1_825, "expiredTried": 0,
        "unsendable": 0, "pending": 0, "sent": 1_221_870, "accepted": 1_204_331, "uncertain": 23, "rejected": 17_516,
        "receivable": 1_014_220, "received": 861_020, "readable": 1_014_220, "read": 243_118,
        "ownSent": 1_221_870, "ownAccepted": 1_204_331,
    ])

    private static func series(_ start: String, step: Int64, _ accepted: [Int64]) -> JSON {
        let first = Timestamp(rfc3339: start) ?? Timestamp(seconds: 0)
        let points = accepted.enumerated().map { place, count -> JSON in
            [
                "start": .string((first + .seconds(Int64(place) * step)).rfc3339),
                "day": "2026-11-17", "counts": counts(["accepted": count, "read": count / 5]),
            ]
        }
        return ["interval": "day", "series": [["group": [:], "points": .array(points)]]]
    }

    private static let idle: JSON = [
        "at": "2026-11-23T05:23:05.000Z",
        "lanes": [["lane": "bulk", "paused": false, "due": 0, "open": 0, "more": false, "oldestDueAt": .null]],
        "heldBy": [],
    ]

    private static let apple: JSON = [
        "credential": "apple", "kind": "apns-token", "usable": true, "refusal": .null,
        "uses": [["topic": "com.example.shop", "environment": "production"]], "expiresAt": .null, "daysToExpiry": .null,
    ]

    private static func bodies() -> [String: JSON] {
        [
            "funnel": ["total": week, "groups": [], "previous": ["total": counts(["accepted": 1_156_899])]],
            "vendors": [
                "groups": [
                    ["group": ["vendor": "native"], "counts": week],
                    [
                        "group": ["vendor": "notificationhubs"],
                        "counts": counts([
                            "targets": 200_788, "sent": 194_600, "accepted": 190_171, "ownSent": 194_560,
                            "ownAccepted": 190_131,
                        ]),
                    ],
                ]
            ],
            "series": series(
                "2026-11-16T15:00:00.000Z",
                step: 86_400,
                [178_000, 192_000, 197_000, 189_000, 190_000, 120_000, 138_331]
            ),
            "before": series("2026-11-09T15:00:00.000Z", step: 86_400, [168_000, 166_000, 170_000]),
            "now": series("2026-11-23T02:15:00.000Z", step: 900, [3000, 3600, 3690]),
            "losses": [
                "losses": [
                    ["stage": "suppressed", "reason": "preference", "count": 21_307],
                    ["stage": "rejected", "reason": "Unregistered", "count": 16_904],
                    ["stage": "suppressed", "reason": "noDevice", "count": 15_112],
                    ["stage": "expired", "reason": .null, "count": 1825],
                    ["stage": "rejected", "reason": "BadDeviceToken", "count": 612],
                ]
            ],
            "latency": [
                "latencies": [
                    [
                        "kind": "delivery", "group": ["vendor": "native"], "p50": 400,
                        "histogram": [
                            ["from": 300, "to": 420, "count": 90], ["from": 800, "to": 900, "count": 9],
                            ["from": 2000, "to": 2200, "count": 1],
                        ],
                    ]
                ]
            ],
            "queue": idle,
            "messages": [
                "messages": [
                    [
                        "id": "0198a1f0-7c00-7000-8000-000000000001", "state": "done", "title": "Winter sale",
                        "recipients": 120_480, "dueAt": "2026-11-23T01:00:00.000Z",
                        "funnel": ["recipients": 120_480, "reached": 118_552, "received": 83_131, "read": 26_505],
                    ],
                    [
                        "id": "0198a1f0-7c00-7000-8000-000000000002", "state": "scheduled", "title": .null,
                        "body": "점검",
                        "recipients": .null, "dueAt": "2026-11-23T09:00:00.000Z",
                    ],
                ],
                "next": .null,
            ],
            "credentials": ["credentials": [apple], "next": .null],
        ]
    }

    static func answers(_ changes: [String: JSON] = [:], failing: [String] = []) -> Answers {
        var answers = Answers()
        for (name, body) in bodies().merging(changes, uniquingKeysWith: { $1 }) {
            answers[name] = APIAnswer(status: failing.contains(name) ? 503 : 200, body: body, requestID: "r")
        }
        return answers
    }

    private func content(
        _ changes: [String: JSON] = [:],
        failing: [String] = [],
        _ language: Language = .en,
        query: [PageRequest.Parameter] = []
    ) throws -> PageContent {
        try page.content(Sample.request(language, query: query), Self.answers(changes, failing: failing))
    }

    private static let renderer = try? Renderer.bundled(isStrict: true)

    private func html(_ content: PageContent, _ language: Language = .en) throws -> String {
        let renderer = try #require(Self.renderer)
        let bytes = renderer.page(content, Sample.request(language), path: "")
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Calls

    @Test func theCallsAreWithinTheLimits() {
        let request = Sample.request(query: [.init("app", "shop"), .init("range", "30d")])
        var answers = Answers()
        var rounds = 0
        var calls: [APICall] = []
        while rounds <= ConsoleLimits.roundsPerPage {
            let next = page.calls(request, answers)
            guard !next.isEmpty else { break }
            rounds += 1
            calls += next
            for call in next { answers[call.name] = APIAnswer(status: 200, body: .null, requestID: "r") }
        }
        #expect(rounds == 1, "no call waits for the answer of another")
        #expect(calls.count <= ConsoleLimits.callsPerPage)
        #expect(Set(calls.map(\.name)).count == calls.count)
        // The list counts its messages, which are not asked for one by one.
        #expect(calls.contains { $0.path == "messages" && $0.query.contains(.init("counts", "true")) })
        #expect(!calls.contains { $0.path.hasPrefix("messages/") })
        for call in calls where call.path.hasPrefix("analytics") {
            #expect(call.query.contains(.init("app", "shop")) && call.query.contains(.init("zone", "Asia/Seoul")))
        }
        #expect(page.export(request)?.path == "analytics/funnel")
    }

    @Test func credentialsAreAskedForWithThePermission() {
        let analyst = Sample.request(role: .analyst)
        #expect(!page.calls(analyst, Answers()).contains { $0.path == "credentials" })
        #expect(page.calls(Sample.request(), Answers()).contains { $0.path == "credentials" })
    }

    @Test func theMainCallIsRequired() {
        #expect(throws: PageFailure.self) { try content(failing: ["funnel"]) }
    }

    // MARK: The sentence

    @Test func normal() throws {
        let english = try content().sentence
        #expect(english.mark == .ok)
        #expect(
            english.text
                == "All systems normal. APNs accepted 1,204,331 notifications in the last 7 days; the queue is empty."
        )
        #expect(
            try content([:], .ko).sentence.text
                == "모든 시스템이 정상입니다. 최근 7일간 APNs가 알림 1,204,331건을 접수했으며, 대기열은 비어 있습니다."
        )
    }

    private static func queue(_ lane: JSON, heldBy: JSON = []) -> JSON { ["lanes": [lane], "heldBy": heldBy] }

    private static func pending(_ count: Int64) -> JSON {
        ["total": counts(["targets": 500_000, "pending": count, "sent": 100_000, "accepted": 99_000])]
    }

    @Test func aCampaignIsNormal() throws {
        let queue = Self.queue(["lane": "bulk", "open": 9, "due": 9, "oldestDueAt": "2026-11-23T05:22:00.000Z"])
        let sentence = try content(["queue": queue, "funnel": Self.pending(3690)]).sentence
        // 4.1 per second for 900 seconds.
        #expect(
            sentence.text
                == "All systems normal. 3,690 notifications are queued and will be sent by about 14:38."
        )
        #expect(sentence.mark == .ok)
        // Without a rate, no time is promised.
        let slow = try content(["queue": queue, "funnel": Self.pending(3690), "now": .null]).sentence.text
        #expect(slow == "All systems normal. 3,690 notifications are queued.")
        #expect(!slow.contains("empty"))
    }

    @Test func aLateQueueIsAWarning() throws {
        let queue = Self.queue(["lane": "bulk", "open": 9, "oldestDueAt": "2026-11-23T05:00:00.000Z"])
        let sentence = try content(["queue": queue]).sentence
        #expect(sentence.mark == .warn)
        #expect(sentence.text == "The queue is late: the oldest notifications have been due since Mon 23 Nov 14:00.")
    }

    @Test func aPausedLaneIsAWarning() throws {
        let queue = Self.queue(["lane": "bulk", "open": 9, "paused": true])
        #expect(try content(["queue": queue]).sentence.text == "Messages wait, because these lanes are paused: Bulk.")
        // An empty one is not.
        let empty = Self.queue(["lane": "bulk", "open": 0, "paused": true])
        #expect(try content(["queue": empty]).sentence.mark == .ok)
    }

    private static let refused: JSON = [
        "credential": "apple", "usable": true, "refusal": "InvalidProviderToken",
        "refusedAt": "2026-11-23T04:50:00.000Z", "uses": [["topic": "a"]],
    ]

    @Test func aRefusedCredentialIsAProblem() throws {
        let changes: [String: JSON] = [
            "credentials": ["credentials": [Self.refused]],
            "queue": Self.queue(["lane": "bulk", "open": 9], heldBy: [["credential": "apple", "slices": 9]]),
        ]
        let content = try content(changes)
        #expect(content.sentence.mark == .bad)
        #expect(
            content.sentence.text
                == "Deliveries are paused: APNs rejects credential apple (InvalidProviderToken) since Mon 23 Nov 13:50."
        )
        #expect(content.sentence.link?.path == "credentials/apple")
        #expect(try html(content).contains("Check the team ID, the key ID and the .p8 file"))
        // An account that may not see credentials sees the problem without its reason.
        let analyst = try self.content(changes, failing: ["credentials"]).sentence.text
        #expect(analyst == "Deliveries are paused: APNs rejects credential apple.")
        // A refused credential that nothing uses is not a problem.
        var unused = Self.refused.object ?? JSONObject()
        unused["uses"] = []
        #expect(try self.content(["credentials": ["credentials": [.object(unused)]]]).sentence.mark == .ok)
    }

    @Test func anUnknownQueueIsNotNormal() throws {
        let sentence = try content(failing: ["queue"]).sentence
        #expect(sentence.mark == .warn)
        #expect(!sentence.text.contains("normal") && !sentence.text.contains("empty"))
    }

    @Test func lowAcceptanceIsAWarning() throws {
        // Pushes that a vendor sent by itself do not hide that the gateway's own are not accepted.
        let values: KeyValuePairs<String, Int64> = [
            "targets": 3000, "sent": 3000, "accepted": 2700, "ownSent": 1000, "ownAccepted": 700,
        ]
        let funnel: JSON = ["total": Self.counts(values)]
        let sentence = try content(["funnel": funnel]).sentence
        #expect(sentence.mark == .warn)
        #expect(
            sentence.text
                == "APNs accepted only 70.0% of the notifications sent in the last 7 days. The main reason is Unregistered."
        )
        let small: JSON = ["total": Self.counts(["targets": 10, "ownSent": 10, "ownAccepted": 7])]
        #expect(try content(["funnel": small]).sentence.mark == .ok)
        let observed: JSON = ["total": Self.counts(["targets": 1000, "sent": 1000, "accepted": 700])]
        #expect(try content(["funnel": observed]).sentence.mark == .ok)
    }

    @Test func nothingSent() throws {
        let content = try content(["funnel": ["total": Self.counts([:])], "messages": ["messages": []]])
        #expect(
            content.sentence.text == "All systems normal. No notifications were sent in the last 7 days."
        )
        #expect(try html(content).contains("Connect an app and send its first message."))
    }

    // MARK: Cards

    @Test(arguments: Language.allCases) func thePageIsRendered(_ language: Language) throws {
        let html = try html(try content([:], language), language)
        #expect(!html.contains(Renderer.faultMark))
        try Wellformed.check(html)
        for text in ["1,260,114", "1,221,870", "97.0%", "98.6%", "84.9%", "24.0%", "−38,244", "−17,539", "4.1"] {
            #expect(html.contains(text), "\(text)")
        }
        #expect(html.utf8.count < 60 << 10)
    }

    @Test func theFunnelNamesReasonsAndSources() throws {
        let html = try html(try content())
        #expect(html.contains("Not sent: opted out 21,307 · no device 15,112 · expired 1,825"))
        #expect(html.contains("Not accepted: Unregistered 16,904 · BadDeviceToken 612 · no response 23"))
        #expect(html.contains("190,134 went to SDKs that cannot report receipts"))
        #expect(html.contains("of 1,014,220 that can report receipts"))
        #expect(html.contains("+4.1% compared with the previous 7 days"))
    }

    @Test func theChartStatesItsFinding() throws {
        #expect(try html(try content()).contains("Accepted notifications fell 37% on 22 Nov"))
        let flat = Self.series("2026-11-16T15:00:00.000Z", step: 86_400, [5000, 5100, 5000, 5000, 5000, 5000, 10])
        // The part that is not over is not a finding.
        #expect(try html(try content(["series": flat])).contains("Notifications accepted and read, by day"))
    }

    @Test func vendorsHaveTheirNamesAndADashWithoutReports() throws {
        let card = OverviewCards(Sample.request(), Self.answers(), Self.bodies()["funnel"] ?? .null).vendorCard
        guard case .table(let table) = card.body.first, table.rows.count == 2 else {
            Issue.record("no table")
            return
        }
        let cells = table.rows[1].cells.map { cell in if case .text(let text) = cell { text } else { "" } }
        #expect(cells == ["", "200,788", "97.7%", "–", "–", "–"])
        let links = ReadPages.links(table)
        #expect(links.map(\.label) == ["Native API", "Notification Hubs"])
        #expect(links.map(\.query) == [[.init("vendor", "native")], [.init("vendor", "notificationhubs")]])
    }

    @Test func expiringCertificatesNeedAction() throws {
        let soon: JSON = [
            "credential": "shop-p12", "usable": true, "uses": [["topic": "a"]], "daysToExpiry": 9,
            "expiresAt": "2026-12-02T00:00:00.000Z",
        ]
        let html = try html(try content(["credentials": ["credentials": [soon]]]))
        #expect(html.contains("Certificate shop-p12 expires in 9 days"))
        #expect(html.contains("Valid until Wed 2 Dec 09:00."))
        #expect(html.contains("612 tokens rejected as BadDeviceToken"))
        // Losses that need nobody are not listed.
        #expect(!html.contains("tokens rejected as Unregistered"))
    }

    @Test func latenciesAreMergedFromBuckets() {
        let figures = LatencyFigures(Self.bodies()["latency"] ?? .null)
        #expect(figures.percentile(0.5) == 420)
        #expect(figures.percentile(0.95) == 900)
        #expect(LatencyFigures(.null).percentile(0.5) == nil)
    }

    // MARK: Bad input

    @Test(arguments: Sample.hostile) func hostileAnswersAreShownAsText(_ text: String) throws {
        let changes: [String: JSON] = [
            "messages": ["messages": [["id": .string(text), "title": .string(text), "state": .string(text)]]],
            "vendors": ["groups": [["group": ["vendor": .string(text)], "counts": Self.week]]],
            "losses": [
                "losses": [
                    ["stage": "rejected", "reason": .string(text), "count": 5000],
                    ["stage": .string(text), "count": 1],
                ]
            ],
            "credentials": [
                "credentials": [["credential": .string(text), "refusal": .string(text), "uses": [["topic": "a"]]]]
            ],
            "queue": Self.queue(
                ["lane": .string(text), "open": 1, "paused": true],
                heldBy: [["credential": .string(text)]]
            ),
        ]
        let html = try html(try content(changes))
        try Wellformed.check(html)
        #expect(!html.contains(Renderer.faultMark))
    }

    @Test func missingAndWrongMembersNeverTrap() throws {
        let wrong: [JSON] = [
            .null, [], [:], "text", 5, ["total": 5], ["series": [["points": [["start": 5]]]]],
            ["series": [["points": [["start": "2026-11-23T05:23:05Z", "counts": ["accepted": .number("1e999")]]]]]],
            ["lanes": [["open": -5, "oldestDueAt": "no"]], "heldBy": [5]],
            ["messages": [5, ["id": 5], ["funnel": 5]]],
            ["losses": [["stage": "x", "count": .number("9223372036854775807")]]],
            ["credentials": [["credential": "a", "daysToExpiry": .number("-9223372036854775808"), "uses": [5]]]],
            ["latencies": [["kind": "delivery", "histogram": [["to": 5, "count": .number("9223372036854775807")]]]]],
            ["total": Self.counts(["targets": .max, "accepted": .max, "uncertain": .max, "pending": .min, "sent": 1])],
            ["funnel": ["recipients": 1, "reached": .number("9223372036854775807"), "read": -1]],
        ]
        let names = Self.bodies().keys.sorted()
        for name in names {
            for body in wrong {
                _ = try content([name: body], .ko)
                try Wellformed.check(try html(try content([name: body])))
            }
        }
        let all = Dictionary(uniqueKeysWithValues: names.map { ($0, JSON.null) })
        try Wellformed.check(try html(try content(all)))
    }
}
