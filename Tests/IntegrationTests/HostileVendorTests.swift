import CommandSupport
import Foundation
import Model
import Testing

/// A vendor that answers anything, behind a gateway as a process (docs/routing.md#proxying): every caller is answered, the gateway goes on, and its memory stays
/// bounded. `HostileUpstreamTests` and the vendors' `HostileAnswerTests` read further answers in the process of the test.
@Suite(.timeLimit(.minutes(30))) struct HostileVendorTests {
    /// 400 mutated answers. `MUTATIONS=10000` selects the long run: 100,000.
    private static let mutations =
        10 * (ProcessInfo.processInfo.environment["MUTATIONS"].flatMap { Int($0) } ?? 40)
    /// 64 MiB, in kB: four answers of the greatest length that is passed on.
    private static let memoryLimit = 64 << 10
    /// Incomplete and missing answers of the vendor and a redirect, and whether the caller gets an answer of the gateway instead.
    private static let faults: [(fault: JSON, isOwn: Bool)] = [
        (["fault": "wrongLength", "delta": 5], true), (["fault": "half"], true), (["fault": "reset"], true),
        (["fault": "loseAnswer"], true), (["fault": "redirect"], false),
    ]

    /// The calls of 50 devices and of a back end, in turns.
    private static func request(_ number: Int) -> [UInt8] {
        let token = String(format: "%064x", 0xBAD000 + number % 50)
        let calls = [
            ("appRegist", #""USER_CN":"u-\#(number % 50)","DEVICE_ID":"d-\#(number % 50)","PUSH_TOKEN":"\#(token)""#),
            ("send", #""PUSH_ID_TYPE":"@01","PUSH_ID":["u-\#((number + 1) % 50)"],"ALERT":"\#(number)""#),
            ("getMsgs", #""DEVICE_ID":"d-0","PUSH_ID_TYPE":"@00","REQ_TYPE":"N""#),
            ("readReport", #""DEVICE_ID":"d-0","REQ_ID":"202601010900000001""#),
        ]
        let (name, fields) = calls[number % calls.count]
        let head = ["Content-Type: application/json; charset=utf-8", "Authorization: Bearer stub-api-key"]
        return RawCaller.request("POST", "/ipns/\(name)", head, Array(#"{"APP_ID":"hr.mobile",\#(fields)}"#.utf8))
    }

    /// Replaces the faults of the vendor.
    private func set(_ fault: JSON?, _ vendor: VendorStub) async throws {
        try await vendor.removeFaults()
        if let fault { try await vendor.add(fault: fault) }
    }

    @Test func everyCallerOfAHostileVendorIsAnswered() async throws {
        try await World.with(serveArguments: ["--upstream-allow", "127.0.0.0/8"]) { world in
            try #require(try await world.apply().status == 0)
            try await world.bindIPNS()
            let vendor = try await VendorStub.start(["ipns", "--set", "app=hr.mobile"], world)
            try await closing(vendor.stop) {
                try await world.place(
                    ["kind": "upstream-ipns", "url": .string(vendor.url), "apiKey": "stub-api-key"],
                    ["calls": [["action": "proxy", "upstream": "old"]]]
                )
                let port = try #require(URL(string: world.http.base)?.port)
                try await isServed(port)
                let gateway = try #require(world.gateway).processID
                let before = try LimitTests.memory("VmRSS", of: gateway)
                try "5".write(toFile: "/proc/\(gateway)/clear_refs", atomically: false, encoding: .utf8)
                try await mutate(port, vendor)
                try await spoil(port, vendor)
                try await set(["fault": "endless"], vendor)
                let http = world.http
                let phone: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "d-0"]
                let ends = try await concurrently(4, tasks: 4) { _ in
                    // The caller gives up before the gateway does, or sees that the answer has no end.
                    (try? await http.call("POST", "/ipns/getConfig", phone)) == nil
                }
                #expect(ends == [true, true, true, true])
                try await set(nil, vendor)
                try await isServed(port)
                let peak = try LimitTests.memory("VmHWM", of: gateway)
                #expect(peak - before <= Self.memoryLimit, "\(before) kB before, \(peak) kB at most")
            }
        }
    }

    /// The vendor's own answer arrives.
    private func isServed(_ port: Int) async throws {
        let answer = try await RawCaller.call(port, Self.request(0))
        #expect(answer.status == 200 && answer.isWhole && answer.text.contains(#""RT":"0000""#), "\(answer)")
    }

    private func mutate(_ port: Int, _ vendor: VendorStub) async throws {
        try await set(["fault": "mutate"], vendor)
        let statuses = try await concurrently(Self.mutations, tasks: 8) { number in
            try await RawCaller.call(port, Self.request(number)).status
        }
        // 0: the connection ended without a head.
        let wrong = statuses.indices.filter { statuses[$0] < 200 }
        #expect(wrong.isEmpty, "\(wrong.prefix(10)) of \(statuses.count)")
    }

    private func spoil(_ port: Int, _ vendor: VendorStub) async throws {
        for (fault, isOwn) in Self.faults {
            var fault = fault.object ?? JSONObject()
            fault["location"] = .string(vendor.url + "/inside")
            try await set(.object(fault), vendor)
            for number in 0..<4 {
                let answer = try await RawCaller.call(port, Self.request(number))
                #expect(answer.isWhole && answer.status == (isOwn ? 200 : 302), "\(fault): \(answer)")
                // The dialect's code of a failure, also for a send that may have been carried out.
                #expect(!isOwn || answer.text.contains(#""RT":"9999""#), "\(fault): \(answer.text)")
            }
        }
        // The gateway does not follow redirects.
        #expect(try await vendor.count(to: "/inside") == 0)
    }
}
