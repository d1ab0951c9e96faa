import CommandSupport
import Foundation
import Model
import NIOHTTP1
import Testing

/// The funnel of a running gateway: its numbers are those of the push service and of the app, and the command shows them.
@Suite(.serialized, .timeLimit(.minutes(5)), .sharedWorld { try await $0.countSomeDeliveries() })
struct AnalyticsTests {
    private func ask(_ path: String) async throws -> JSON {
        let answer = try await SharedWorld.current.native("GET", path)
        return try #require(answer.status == 200 ? answer.json : nil, "\(answer.text)")
    }

    @Test func theFunnelIsThatOfThePushServiceAndTheApp() async throws {
        let answer = try await ask("/v1/analytics/funnel?app=shop&vendor=native")
        let total = try #require(answer["total"])
        let expected: [(String, Int64)] = [
            ("targets", 11), ("suppressed", 1), ("canceled", 0), ("expired", 0), ("unsendable", 0), ("pending", 0),
            ("sent", 10), ("accepted", 8), ("rejected", 2), ("uncertain", 0), ("receivable", 8), ("received", 3),
            ("read", 2),
        ]
        for (name, count) in expected { #expect(total[name]?.int == count, "\(name): \(JSONWriter.text(total))") }
        let stats = try await SharedWorld.current.stats()
        #expect(stats["accepted"]?.int == 8, "\(JSONWriter.text(stats))")
        #expect(total["rates"]?["receiptRate"]?["value"]?.double == 0.375)
        #expect(total["rates"]?["receiptRate"]?["smallSample"] == true)
    }

    @Test func aTransportHasTheTargetsThatEndedThere() async throws {
        let answer = try await ask("/v1/analytics/funnel?app=shop&vendor=native&by=transport")
        let groups = try #require(answer["groups"]?.array)
        let targets = groups.map { ($0["group"]?["transport"]?.string, $0["counts"]?["targets"]?.int) }
        #expect(targets.count == 2 && targets[0] == ("apns", 10) && targets[1] == ("none", 1), "\(targets)")
        let only = try await ask("/v1/analytics/funnel?app=shop&vendor=native&transport=apns")
        #expect(only["total"]?["targets"]?.int == 10 && only["total"]?["pending"]?.int == 0)
    }

    // Pushes that a vendor sent by itself or for the gateway, also with a credential that is deleted.
    @Test(arguments: ["observed:rationalowl", "observed:native", "upstream:old", "none,observed:upmc,upstream:a%20b"])
    func theFilterAcceptsEachTransportOfAnswers(_ transports: String) async throws {
        for question in ["funnel", "timeseries", "losses"] {
            _ = try await ask("/v1/analytics/\(question)?app=shop&transport=\(transports)")
        }
    }

    @Test func lossesHaveTheirReasons() async throws {
        let answer = try await ask("/v1/analytics/losses?app=shop&vendor=native")
        let losses = try #require(answer["losses"]?.array).map {
            "\($0["stage"]?.string ?? "") \($0["reason"]?.string ?? "") \($0["count"]?.int ?? 0)"
        }
        #expect(losses == ["rejected Unregistered 2", "suppressed noDevice 1"])
    }

    // A command that was stopped continues after the last whole line, and the file is the same.
    @Test(arguments: ["ndjson", "csv"]) func anExportIsContinued(format: String) async throws {
        let world = try SharedWorld.current
        let file = world.material.path("deliveries.\(format)")
        let arguments = ["export", "deliveries", "--app", "shop", "--format", format, "--output", file]
        let whole = try await world.apiCommand(arguments)
        #expect(whole.status == 0 && whole.log.contains("11 rows"), "\(whole.log)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try #require(bytes.split(separator: 0x0A).count == (format == "csv" ? 12 : 11))
        for length in [0, 30, bytes.count / 2, bytes.count - 1, bytes.count] {
            try bytes.prefix(length).write(to: URL(fileURLWithPath: file + ".part"))
            let rest = try await world.apiCommand(arguments)
            #expect(rest.status == 0, "\(rest.log)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes, "\(format) \(length)")
            #expect(!FileManager.default.fileExists(atPath: file + ".part"))
        }
        try Data("something else\n1,2\n".utf8).write(to: URL(fileURLWithPath: file + ".part"))
        let other = try await world.apiCommand(arguments)
        #expect(
            other.status != 0 && other.log.contains(format == "csv" ? "cursor" : "is not an export"),
            "\(other.log)"
        )
        let wrong = try await world.apiCommand(["export", "devices", "--from", "2026-01-01T00:00:00Z"])
        #expect(wrong.status == 2 && wrong.log.contains("no range"), "\(wrong.log)")
    }

    /// Asks until the reader has counted everything that happened before the call.
    private func counted(_ path: String) async throws -> JSON {
        let now = Timestamp(seconds: Int64(Date().timeIntervalSince1970) + 1)
        var answer: JSON = [:]
        try await eventually("the events are counted") {
            answer = try await ask(path)
            return (answer["countedUntil"]?.string).flatMap { Timestamp(rfc3339: $0) }.map { $0 > now } ?? false
        }
        return answer
    }

    @Test func latenciesAreThoseOfTheDeliveries() async throws {
        let answer = try await counted("/v1/analytics/latency?app=shop&vendor=native&by=app,vendor")
        let lines = try #require(answer["latencies"]?.array)
        #expect(lines.map { $0["kind"]?.string } == ["delivery", "transport", "receipt", "read"])
        #expect(lines.map { $0["count"]?.int } == [10, 10, 3, 2], "\(JSONWriter.text(answer))")
        for line in lines {
            #expect(line["group"] == ["app": "shop", "vendor": "native"])
            let counts = (line["histogram"]?.array ?? []).compactMap { $0["count"]?.int }
            #expect(counts.reduce(0, +) == line["count"]?.int)
            #expect((0...600_000).contains(line["p99"]?.int ?? -1) && line["p50"]?.int ?? 0 <= line["p99"]?.int ?? 0)
        }
        let other = try await ask("/v1/analytics/latency?app=shop&vendor=upmc")
        #expect(other["latencies"] == [])
        let old = try await ask("/v1/analytics/latency?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z")
        #expect(old["latencies"] == [])
    }

    // Counts and latencies are merged into days separately. Nothing of the run is that old.
    @Test func anAnswerSaysWhichDaysAreWholeAndInWhichZones() async throws {
        func quarter(_ time: String) throws -> Int32 {
            let start = try #require(Timestamp(rfc3339: time))
            return QuarterRange(start..<start + .seconds(900)).from
        }
        let (counts, latencies) = (try quarter("2020-02-01T00:00:00Z"), try quarter("2020-02-02T00:00:00Z"))
        let noted = try await SharedWorld.current.value(
            """
            INSERT INTO gateway.counter_fold AS f (tenant_id, minute, rolled, latencies_rolled)
                SELECT a.tenant_id, 0, \(counts), \(latencies) FROM gateway.app a WHERE a.tenant_id = 'acme' AND a.app_id = 'shop'
                ON CONFLICT (tenant_id) DO UPDATE SET rolled = excluded.rolled, latencies_rolled = excluded.latencies_rolled
                RETURNING f.tenant_id AS value
            """
        )
        #expect(!noted.isEmpty)
        let zone = try await SharedWorld.current.value(
            "SELECT coalesce(a.defaults->>'timeZone', 'UTC') AS value FROM gateway.app a WHERE a.tenant_id = 'acme' AND a.app_id = 'shop'"
        )
        let range = "app=shop&from=2020-01-31T00:00:00Z&to=2020-02-03T00:00:00Z"
        for (question, until) in [
            ("funnel", "2020-02-01"), ("timeseries", "2020-02-01"), ("losses", "2020-02-01"), ("latency", "2020-02-02"),
        ] {
            let old = try await ask("/v1/analytics/\(question)?\(range)")
            #expect(old["daysOnlyUntil"] == .string("\(until)T00:00:00.000Z"), "\(question)")
            #expect(old["daysOnlyZones"] == [.string(zone)], "\(question)")
            let young = try await ask("/v1/analytics/\(question)?app=shop")
            #expect(young["daysOnlyUntil"] == .null && young["daysOnlyZones"] == [], "\(question)")
        }
        // Of this range quarter hours are kept, of the one before it days.
        let later = "/v1/analytics/funnel?app=shop&from=2020-02-01T00:00:00Z&to=2020-02-03T00:00:00Z"
        #expect(try await ask(later)["daysOnlyUntil"] == .null)
        let compared = try await ask(later + "&compare=previous")
        #expect(compared["daysOnlyUntil"] == "2020-02-01T00:00:00.000Z", "\(JSONWriter.text(compared))")
        #expect(compared["daysOnlyZones"] == [.string(zone)])
        let table = try await SharedWorld.current.native("GET", later + "&compare=previous&format=csv")
        #expect(table.headers.first(name: "x-days-only-until") == "2020-02-01T00:00:00.000Z", "\(table.headers)")
        #expect(table.headers.first(name: "x-days-only-zones") == zone, "\(table.headers)")
        #expect(table.headers.first(name: "x-zone") == compared["zone"]?.string, "\(table.headers)")
    }

    @Test func devicesAndUsersAreCountedOnce() async throws {
        let answer = try await counted("/v1/analytics/devices?app=shop&by=app&interval=day")
        let total = try #require(answer["total"])
        let expected: [(String, Int64)] = [
            ("devicesReached", 8), ("devicesReceived", 3), ("devicesRead", 2), ("usersReached", 8),
            ("usersReceived", 3),
            ("usersRead", 2), ("gained", 10), ("lost", 0),
        ]
        for (name, count) in expected { #expect(total[name]?.int == count, "\(name): \(JSONWriter.text(answer))") }
        // Two rejections that arrive together are too large a part of the answers to mark tokens, so that their number varies.
        let events = try await SharedWorld.current.native("GET", "/v1/events?kinds=token_invalidated&app=shop")
        #expect(total["invalidated"]?.int == Int64(events.text.split(separator: "\n").count), "\(events.text)")
        #expect(answer["groups"]?.array?.first?["group"] == ["app": "shop"])
        #expect(answer["parts"]?.array?.isEmpty == false)
        #expect(answer["zone"] == "UTC" || answer["zone"]?.string?.contains("/") == true)
    }

    // They are counted when they are answered, so that nothing has to be waited for.
    @Test func receiptsThatChangeNoDeliveryAreCountedByReason() async throws {
        let world = try SharedWorld.current
        let list = try await world.native("GET", "/v1/messages?app=shop").json?["messages"]?.array
        let id = try #require(list?.first?["id"]?.string)
        let names = ["orphansRepeated", "orphansOtherDevice", "orphansUnknownMessage", "orphansUnknownDevice"]
        func counts(_ figures: JSON?) -> [Int64] { names.map { figures?[$0]?.int ?? -1 } }
        let path = "/v1/analytics/devices?app=shop&by=app&interval=day"
        let before = counts(try await ask(path)["total"])
        let receipts = [
            (id, "a-5", "repeated"), (id, "a-5", "repeated"), (id, "a-nobody", "orphan"), ("none", "a-5", "orphan"),
            ("0198a1f0-7c00-7000-8000-00000000abcd", "a-5", "orphan"),
        ]
        for (message, key, outcome) in receipts {
            let receipt: JSON = ["message": .string(message), "key": .string(key), "kind": "received"]
            let answer = try await world.native("POST", "/v1/apps/shop/receipts", receipt)
            #expect(answer.json?["outcome"] == .string(outcome), "\(answer.text)")
        }
        let answer = try await ask(path)
        let expected = zip(before, [2, 0, 2, 1] as [Int64]).map { $0 + $1 }
        #expect(counts(answer["total"]) == expected, "\(JSONWriter.text(answer))")
        #expect(counts(answer["groups"]?.array?.first?["figures"]) == expected)
        let days = (answer["parts"]?.array ?? []).map { counts($0["figures"]) }
        #expect(names.indices.map { place in days.reduce(0) { $0 + $1[place] } } == expected)
        let shown = try await world.apiCommand(["analytics", "devices", "--app", "shop"])
        let line = "repeated \(expected[0]), unknown message \(expected[2]), unknown device \(expected[3])"
        #expect(shown.status == 0 && shown.log.contains("orphan receipts: \(line)"), "\(shown.log)")
    }

    /// The groups of an answer as sentences, sorted.
    private func lines(_ answer: JSON) -> [String] {
        (answer["groups"]?.array ?? []).map { line in
            let group = (line["group"]?.object?.pairs ?? []).map { "\($0.key) \($0.value.string ?? "–")" }
            let counts = ["reached", "received", "read"].map { "\(line[$0]?.int ?? -1)" }
            return (group + counts).joined(separator: " ")
        }.sorted()
    }

    // Two of the ten devices are rejected. Devices 5 and 6 read, device 7 received.
    @Test func versionsAreThoseOfTheHandOver() async throws {
        let versions = try await counted("/v1/analytics/versions?app=shop")
        #expect(lines(versions) == ["appVersion 1.0 3 1 1", "appVersion 1.1 4 2 1", "appVersion – 1 0 0"])
        let models = try await ask("/v1/analytics/versions?app=shop&by=model,appVersion")
        #expect(
            lines(models) == [
                "appVersion 1.0 model A 3 1 1", "appVersion 1.1 model B 4 2 1", "appVersion – model – 1 0 0",
            ]
        )
        let old = try await ask("/v1/analytics/versions?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z")
        #expect(old["groups"] == [])
    }

    @Test func campaignsAndHoursAreCounted() async throws {
        let campaigns = try await counted("/v1/analytics/campaigns?app=shop")
        #expect(lines(campaigns) == ["app shop campaign spring variant b 8 3 2"])
        let hours = try await ask("/v1/analytics/hours?app=shop")
        let found = (hours["groups"]?.array ?? []).map {
            ($0["group"]?["hour"]?.string.flatMap { Int($0) }, $0["reached"]?.int ?? 0)
        }
        #expect(found.reduce(0) { $0 + $1.1 } == 8, "\(JSONWriter.text(hours))")
        // Half of the devices are in Seoul, nine hours ahead; the run may begin in one hour and end in the next.
        let now = WeekHour(at: Timestamp(seconds: Int64(Date().timeIntervalSince1970)), offset: 0).index
        let possible = Set([0, -1, 9, 8].map { (Int(now) + $0 + 168) % 168 })
        #expect(found.count >= 2 && found.allSatisfy { possible.contains($0.0 ?? -1) }, "\(JSONWriter.text(hours))")
        let csv = try await SharedWorld.current.native("GET", "/v1/analytics/campaigns?app=shop&format=csv")
        #expect(csv.text == "app,campaign,variant,reached,received,read\r\nshop,spring,b,8,3,2\r\n", "\(csv.text)")
        for question in ["latency", "devices", "versions", "campaigns", "hours"] {
            let table = try await SharedWorld.current.native("GET", "/v1/analytics/\(question)?app=shop&format=csv")
            for name in ["x-counted-from", "x-counted-until"] {
                let time = table.headers.first(name: name).flatMap { Timestamp(rfc3339: $0) }
                #expect(time != nil, "\(question), \(name): \(table.headers)")
            }
        }
    }

    @Test func theCommandsPrintVersionsCampaignsAndHours() async throws {
        let world = try SharedWorld.current
        _ = try await counted("/v1/analytics/versions?app=shop")
        let versions = try await world.apiCommand([
            "analytics", "versions", "--app", "shop", "--by", "model", "--by", "os",
        ])
        #expect(versions.status == 0 && versions.log.contains(/– +B +4 +2 +1\b/), "\(versions.log)")
        let campaigns = try await world.apiCommand(["analytics", "campaigns", "--app", "shop"])
        #expect(campaigns.log.contains(/shop +spring +b +8 +3 +2\b/), "\(campaigns.log)")
        let hours = try await world.apiCommand(["analytics", "hours", "--app", "shop"])
        #expect(hours.status == 0 && hours.log.contains(/(Mon|Tue|Wed|Thu|Fri|Sat|Sun) +\d\d:00 +\d/), "\(hours.log)")
    }

    private static let notATime = "must be a time like 2026-12-25T13:30:00Z, or milliseconds since 1970"
    private static let tooLong = "must be at most 400 days after from"
    private static let noZone = "is not a name of the IANA time zone database, like Europe/Berlin"
    private static let noParameter = "is not a known parameter; known are "
    private static let noApp = "nobody is not an app of the tenant: `GET /v1/apps` lists them"
    private static let transports =
        "must be one of apns, none, observed:braze, observed:ipns, observed:native, observed:notificationhubs, observed:rationalowl, observed:upmc, upstream:CREDENTIAL"

    private static let wrongQuestions: [(String, String, String)] = [
        ("versions?by=color", "by", "must be one of appVersion, os, osVersion, sdkVersion, model, locale"),
        ("campaigns?from=2020-01-01T00:00:00Z", "to", tooLong), ("hours?zone=Mars/Olympus", "zone", noZone),
        ("funnel?by=mood", "by", "must be one of app, vendor, deviceVendor, transport"),
        ("funnel?by=app,vendor,transport", "by", "at most 2 entries"),
        ("latency?by=transport", "by", "must be one of app, vendor"),
        ("latency?by=mood", "by", "must be one of app, vendor"), ("devices?by=vendor", "by", "must be one of app"),
        ("devices?interval=hour", "interval", "must be one of day, week, month"),
        ("devices?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "to", "must be after from"),
        ("latency?from=2020-01-01T00:00:00Z", "to", tooLong), ("latency?zone=Mars/Olympus", "zone", noZone),
        ("devices?vendor=upmc", "vendor", noParameter + "app, by, format, from, interval, to, zone"),
        (
            "funnel?metric=joy", "metric",
            noParameter + "app, by, compare, deviceVendor, format, from, to, transport, vendor, zone"
        ),
        ("vendors?app=shop", "app", "is not a known parameter"),
        ("funnel?compare=next", "compare", "must be one of previous"),
        ("timeseries?interval=minute", "interval", "must be one of quarterHour, hour, day, week, month"),
        ("losses?format=pdf", "format", "must be one of json, csv"),
        ("funnel?vendor=pigeon", "vendor", "must be one of braze, ipns, native, notificationhubs, rationalowl, upmc"),
        ("funnel?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "to", "must be after from"),
        ("timeseries?from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z", "to", "must be after from"),
        ("funnel?from=2020-01-01T00:00:00Z", "to", tooLong), ("losses?zone=Mars/Olympus", "zone", noZone),
        ("funnel?from=9223372036854775000&to=9223372036854775807", "from", notATime),
        ("losses?to=9223372036854775807", "to", notATime), ("devices?from=253402300800000", "from", notATime),
        ("funnel?app=nobody", "app", noApp), ("timeseries?app=shop,nobody", "app", noApp),
        ("latency?app=nobody", "app", noApp), ("versions?app=nobody", "app", noApp),
        ("funnel?transport=pigeon", "transport", transports),
        ("funnel?transport=observed:pigeon", "transport", transports),
        ("losses?transport=upstream:", "transport", transports),
        (
            "losses?deviceVendor=pigeon", "deviceVendor",
            "must be one of braze, ipns, native, notificationhubs, rationalowl, upmc, unknown"
        ),
    ]

    @Test(arguments: wrongQuestions)
    func aWrongQuestionIsRefusedWithItsField(_ path: String, _ field: String, _ fault: String) async throws {
        let answer = try await SharedWorld.current.native("GET", "/v1/analytics/\(path)")
        #expect(answer.status == 422 && answer.json?["code"] == "PG-1002", "\(answer.status) \(answer.text)")
        #expect(answer.json?["detail"]?.string == "\(field): \(fault)")
    }

    // A cursor continues the query that returned it, and no other.
    @Test func aCursorOfAnotherExportIsRefused() async throws {
        let world = try SharedWorld.current
        func lines(_ path: String) async throws -> (status: Int, lines: [JSON], text: String) {
            let answer = try await world.native("GET", "/v1/exports/\(path)")
            let lines = answer.text.split(separator: "\n").compactMap { try? JSONParser.parse(String($0)) }
            return (answer.status, lines, answer.text)
        }
        // A range has at most 400 days.
        let month = Timestamp(seconds: Int64(Date().timeIntervalSince1970) - 30 * 86_400).rfc3339
        for (path, others) in [
            (
                "deliveries?app=shop",
                ["deliveries?format=ndjson", "deliveries?vendor=native", "deliveries?app=shop&from=\(month)"]
            ),
            ("events?app=shop", ["events?format=ndjson", "events?app=shop&vendor=native"]),
            ("devices?app=shop", ["devices?vendor=native"]),
        ] {
            let whole = try await lines(path)
            let cursor = try #require(whole.lines.first?["cursor"]?.string, "\(whole.text)")
            let rest = try await lines("\(path)&after=\(cursor)")
            #expect(rest.status == 200 && rest.lines == Array(whole.lines.dropFirst()), "\(path): \(rest.text)")
            // As the previous version returned it.
            let position = cursor.prefix { $0 != "." }
            let bare = try await lines("\(path)&after=\(position)")
            #expect(bare.status == 200 && bare.lines == rest.lines, "\(path): \(bare.text)")
            for other in others {
                let refused = try await lines("\(other)&after=\(cursor)")
                #expect(refused.status == 422 && refused.text.contains("after"), "\(other): \(refused.text)")
            }
            let unknown = try await lines(path.replacing("shop", with: "nobody"))
            #expect(unknown.status == 422 && unknown.text.contains("app"), "\(unknown.text)")
        }
    }

    // `sent` of a message and `sent` of the analytics are different numbers; `reached` is one.
    @Test func reachedMeansTheSameEverywhere() async throws {
        let world = try SharedWorld.current
        let list = try await world.native("GET", "/v1/messages?app=shop").json?["messages"]?.array
        let id = try #require(list?.first?["id"]?.string)
        let funnel = try #require(try await world.native("GET", "/v1/messages/\(id)").json?["funnel"])
        let total = try #require(try await ask("/v1/analytics/funnel?app=shop&vendor=native")["total"])
        #expect(funnel["reached"]?.int == 8 && funnel["sent"]?.int == 8 && total["sent"]?.int == 10)
        #expect(total["accepted"]?.int == 8 && total["uncertain"]?.int == 0)
    }

    @Test func theCommandsPrintLatenciesAndDevices() async throws {
        let world = try SharedWorld.current
        _ = try await counted("/v1/analytics/latency?app=shop")
        let latency = try await world.apiCommand(["analytics", "latency", "--app", "shop", "--by", "vendor"])
        #expect(latency.status == 0 && latency.log.contains(/delivery +10\b/), "\(latency.log)")
        #expect(latency.log.contains("counted until 20") && latency.log.contains("vendor native"), "\(latency.log)")
        let devices = try await world.apiCommand([
            "analytics", "devices", "--app", "shop", "--interval", "week", "--by-app",
        ])
        #expect(devices.status == 0 && devices.log.contains(/all +8 +3 +2 +8 +3 +2 +10 +0 +\d/), "\(devices.log)")
        let csv = try await world.apiCommand(["analytics", "devices", "--app", "shop", "--csv"])
        #expect(csv.log.contains("devicesReached,") && csv.log.contains("8,3,2,8,3,2,10,0,"), "\(csv.log)")
    }

    @Test func theCommandPrintsAReadableFunnel() async throws {
        let world = try SharedWorld.current
        let funnel = try await world.apiCommand([
            "analytics", "funnel", "--app", "shop", "--vendor", "native", "--by", "transport", "--compare",
        ])
        #expect(funnel.status == 0, "\(funnel.log)")
        #expect(funnel.log.contains(/targets +11  █+ +new/) && funnel.log.contains("transport apns"), "\(funnel.log)")
        #expect(funnel.log.contains("receipt 37.5 % (few deliveries)"), "\(funnel.log)")
        let losses = try await world.apiCommand(["analytics", "losses", "--app", "shop", "--csv"])
        #expect(losses.log.hasPrefix("stage,reason,count\r\nrejected,Unregistered,2"), "\(losses.log)")
        let wrong = try await world.apiCommand(["analytics", "funnel", "--zone", "Mars/Olympus"])
        #expect(wrong.status == 1 && wrong.log.contains("PG-1002") && wrong.log.contains("zone"), "\(wrong.log)")
    }
}

extension World {
    /// Ten devices. The push service rejects the pushes to two of them; an eleventh user has no device. Three devices report, one of them twice.
    fileprivate func countSomeDeliveries() async throws {
        for number in 0..<10 {
            var body: JSONObject = [
                "app": "shop", "platform": "ios", "key": .string("a-\(number)"), "token": .string(Self.token(number)),
                "user": .string("u-\(number)"),
            ]
            body["timeZone"] = number % 2 == 0 ? "Asia/Seoul" : nil
            // One device of those that are reached reports nothing.
            let isOld = number < 6
            if number != 2 {
                body["client"] = ["appVersion": .string(isOld ? "1.0" : "1.1"), "model": .string(isOld ? "A" : "B")]
            }
            try #require(try await native("POST", "/v1/devices", .object(body)).status == 201)
        }
        try await script([
            ["token": .string(Self.token(0)), "status": 410], ["token": .string(Self.token(1)), "status": 410],
        ])
        let users = ((0..<10).map { "u-\($0)" } + ["u-nobody"]).map { JSON.string($0) }
        let sent = try await native(
            "POST",
            "/v1/messages",
            ["app": "shop", "to": ["users": .array(users)], "body": "Hi", "campaign": "spring", "variant": "b"]
        )
        let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
        try await eventually("every delivery has an outcome") {
            let funnel = try await native("GET", "/v1/messages/\(id)").json?["funnel"]
            return funnel?["sent"]?.int == 8 && funnel?["failed"]?.int == 2
        }
        // Deliveries keep the version of the hand-over.
        for number in 2..<10 {
            let update: JSON = [
                "app": "shop", "platform": "ios", "key": .string("a-\(number)"), "client": ["appVersion": "9.9"],
            ]
            try #require(try await native("POST", "/v1/devices", update).status == 200)
        }
        for (key, kind) in [("a-5", "received"), ("a-5", "read"), ("a-6", "read"), ("a-7", "received")] {
            let receipt: JSON = ["message": .string(id), "key": .string(key), "kind": .string(kind)]
            let answer = try await native("POST", "/v1/apps/shop/receipts", receipt)
            try #require(answer.json?["outcome"] == "recorded", "\(answer.text)")
        }
    }

    private static func token(_ number: Int) -> String { String(repeating: "a\(number)", count: 32) }
}
