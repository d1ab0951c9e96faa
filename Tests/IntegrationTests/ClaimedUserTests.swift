import CommandSupport
import Foundation
import Gateway
import Model
import Testing

/// Users and phones that only an app states, in the dialects whose apps prove nothing (C3). `DefaultCallTests` shows that the claim does not read earlier messages.
@Suite(.serialized, .timeLimit(.minutes(10)), .sharedWorld { try await $0.applyPersons() })
struct ClaimedUserTests {
    private var world: World { get throws { try SharedWorld.current } }

    private static let vendors: [Vendor] = [.rationalOwl, .upmc, .ipns]

    /// The outcomes of the device that has the person, and of the one that only states it. A phone of RationalOwl has one device.
    private static func confirmed(_ vendor: Vendor) -> [String] {
        vendor == .rationalOwl ? ["sent"] : ["sent", "suppressed assurance"]
    }

    /// A device that states a person: a phone in RationalOwl, a user in the other dialects.
    private struct Device {
        let vendor: Vendor
        let app: String
        let person: String
        let token: String

        init(_ name: String, of number: Int, _ vendor: Vendor, _ app: String) {
            self.vendor = vendor
            self.app = app
            // The dialects of an app share its users.
            person = vendor == .rationalOwl ? "0105555000\(number)" : "\(vendor)-\(number)"
            token = SystemIdentifiers().sha256(Array("\(vendor) \(app) \(name) \(number)".utf8))
        }
    }

    private func register(_ device: Device) async throws {
        let world = try world
        switch device.vendor {
        case .rationalOwl:
            let body: JSON = [
                "cId": 303, "aId": .string("\(device.app)-account"), "dt": 2,
                "dRId": .string("\(device.token.prefix(32))"), "pn": .string(device.person),
                "tk": .string(device.token), "env": "prod",
            ]
            let answer = try await world.http.call("POST", "/pushApp/installApp", body)
            try #require(answer.json?["rc"] == 1, "\(answer.text)")
        case .upmc:
            var caller = UPMCCaller(base: world.http.base)
            caller.application = "com.person.\(device.app)"
            var phone = UPMCCaller.Phone(user: device.person)
            phone.device = "\(device.token.prefix(16))"
            phone.token = device.token
            try await caller.register(phone)
        default:
            let body: JSON = [
                "APP_ID": .string("person.\(device.app)"), "USER_CN": .string(device.person),
                "DEVICE_ID": .string("\(device.token.prefix(16))"), "PUSH_TOKEN": .string(device.token),
            ]
            let answer = try await world.http.call("POST", "/ipns/appRegist", body)
            try #require(answer.json?["RT"] == "0000", "\(answer.text)")
        }
    }

    /// The tenant's back end confirms the person of a device.
    private func vouch(_ device: Device) async throws {
        let identity = try await world.value(
            """
            SELECT i.identity_id::text AS value FROM gateway.identity i
            JOIN gateway.device d ON d.tenant_id = i.tenant_id AND d.device_id = i.device_id
            WHERE i.app_id = '\(device.app)' AND i.vendor = '\(device.vendor)' AND d.token = '\(device.token)'
            """
        )
        let vouched = try await world.native("POST", "/v1/identities/\(identity)/vouch", [:])
        try #require(vouched.json?["assurance"] == "vouched", "\(vouched.text)")
    }

    /// The data of the events of moves, oldest first.
    private func moves(of device: Device) async throws -> [JSON] {
        let path = "/v1/events?kinds=moved&app=\(device.app)&vendor=\(device.vendor)&limit=1000"
        let lines = try await world.native("GET", path).text.split(separator: "\n")
        return lines.compactMap { (try? JSONParser.parse(String($0)))?["data"] }
    }

    /// Registers a device that states the person of another one, and returns the data of the event.
    private func claim(_ device: Device) async throws -> JSON {
        let before = try await moves(of: device).count
        try await register(device)
        let moves = try await moves(of: device)
        #expect(moves.count == before + 1, "\(device.vendor): \(moves)")
        return try #require(moves.last)
    }

    /// Sends a one-time code to the person, and returns the outcomes of that many devices in alphabetical order.
    private func send(to device: Device, _ minAssurance: String? = nil, reaching count: Int) async throws -> [String] {
        let world = try world
        let person: JSON = .array([.string(device.person)])
        let audience: JSON = device.vendor == .rationalOwl ? ["phones": person] : ["users": person]
        var body: JSONObject = ["app": .string(device.app), "to": audience, "title": "t", "body": "Your code is 4711"]
        if let minAssurance { body["minAssurance"] = .string(minAssurance) }
        let sent = try await world.native("POST", "/v1/messages", .object(body))
        let id = try #require(sent.json?["id"]?.string, "\(sent.text)")
        return try await first("the outcomes of \(count) devices") {
            let list = try await world.native("GET", "/v1/messages/\(id)/deliveries").json?["deliveries"]?.array ?? []
            let outcomes = list.map { delivery in
                [delivery["state"]?.string, delivery["reason"]?.string].compactMap { $0 }.joined(separator: " ")
            }
            let isOver = outcomes.allSatisfy { $0 == "sent" || $0.hasPrefix("suppressed") }
            return outcomes.count == count && isOver ? outcomes.sorted() : nil
        }
    }

    /// How many pushes the device has received.
    private func pushes(_ device: Device) async throws -> Int {
        let answer = try await world.control.call("GET", "/_simulator/requests?token=\(device.token)&limit=50")
        return answer.json?["requests"]?.array?.count ?? 0
    }

    @Test(arguments: vendors)
    func aClaimIsReportedAndGetsNothingThatNeedsAConfirmedUser(_ vendor: Vendor) async throws {
        let owner = Device("owner", of: 1, vendor, "claimed")
        let stranger = Device("stranger", of: 1, vendor, "claimed")
        try await register(owner)
        let kind: JSON = vendor == .rationalOwl ? "phone" : "user"
        let move = try await claim(stranger)
        #expect(move["of"] == kind && move["pending"] == false, "\(move)")
        let count = vendor == .rationalOwl ? 1 : 2
        let refused = try await send(to: owner, "vouched", reaching: count)
        #expect(refused == Array(repeating: "suppressed assurance", count: count))
        #expect(try await pushes(stranger) == 0)
        // The control: the defaults exclude a claim from nothing else.
        #expect(try await send(to: owner, reaching: count) == Array(repeating: "sent", count: count))
        #expect(try await pushes(stranger) == 1)
    }

    @Test(arguments: vendors)
    func aClaimTakesNothingFromAConfirmedUser(_ vendor: Vendor) async throws {
        let owner = Device("owner", of: 2, vendor, "claimed")
        let stranger = Device("stranger", of: 2, vendor, "claimed")
        try await register(owner)
        try await vouch(owner)
        _ = try await claim(stranger)
        for level in [nil, "vouched"] {
            let expected = Self.confirmed(vendor)
            #expect(try await send(to: owner, level, reaching: expected.count) == expected)
        }
        let received = [try await pushes(owner), try await pushes(stranger)]
        #expect(received == [2, 0])
    }

    @Test(arguments: vendors)
    func aMoveWaitsForTheBackEndWhereTheBindingSaysSo(_ vendor: Vendor) async throws {
        let owner = Device("owner", of: 3, vendor, "waiting")
        let stranger = Device("stranger", of: 3, vendor, "waiting")
        try await register(owner)
        #expect(try await claim(stranger)["pending"] == true)
        let expected = Self.confirmed(vendor)
        #expect(try await send(to: owner, reaching: expected.count) == expected)
        #expect(try await pushes(stranger) == 0)
        try await vouch(stranger)
        #expect(try await send(to: owner, reaching: expected.count) == expected)
        let received = [try await pushes(owner), try await pushes(stranger)]
        #expect(received == [1, 1])
    }

    @Test func theDoctorNamesTheAppsWhoseUsersAreClaims() async throws {
        let checked = try await world.command(["doctor", "--security", "--json", "--fail-on", "never"])
        let line = try #require(checked.log.split(separator: "\n").last { $0.hasPrefix("{") }, "\(checked.log)")
        let findings = try JSONParser.parse(String(line))["findings"]?.array ?? []
        let named = findings.filter { $0["finding"] == "minAssurance is claimed" }.compactMap { $0["place"]?.string }
        #expect(named.contains("acme/claimed") && !named.contains("acme/strict"), "\(named)")
    }
}

extension World {
    /// Adds the app `claimed`, whose bindings have no settings, the app `waiting`, in which moves wait for the back end, and the app `strict`, in which one-time
    /// codes need a confirmed user.
    fileprivate func applyPersons() async throws {
        func app(_ name: String, _ settings: String) -> String {
            """

                  - id: \(name)
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      rationalowl: { accountId: \(name)-account, serviceId: \(name)-service\(settings) }
                      upmc: { applicationId: com.person.\(name)\(settings) }
                      ipns: { appId: person.\(name)\(settings) }
            """
        }
        let strict = """

                  - id: strict
                    minAssurance: { transactional: vouched }
                    platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }
                    bindings:
                      ipns: { appId: person.strict }
            """
        let apps = app("claimed", "") + app("waiting", ", settings: { userMoves: vouch }") + strict
        try await apply("persons.yaml", keys: "", apps: apps)
        try await eventually("the last binding is served") {
            try await http.call("POST", "/ipns/getConfig", ["APP_ID": "person.strict", "DEVICE_ID": "D"])
                .json?["RT"] == "2003"
        }
    }
}
