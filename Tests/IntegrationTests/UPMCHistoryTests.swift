import Coverage
import Foundation
import Model
import Testing

// Histories, docs/contracts/upmc.md#1.11: a list and its pages, one message, read messages, the count, and callers
// without access.
extension UPMCGatewayTests {
    @Test(.covers("upmc", "gw_get_message_list", "gw_get_message", "gw_get_unread_count"))
    func aUsersHistoryIsPagedFilteredAndCounted() async throws {
        try await with { world, caller in
            let (phone, tablet) = (Phone(user: "hong"), Phone(user: "hong"))
            for device in [phone, tablet] { try await caller.register(device) }
            func unread() async throws -> JSON? { try await caller.call("gw_get_unread_count", phone.fields).first }
            #expect(try await caller.call("gw_get_message_list", phone.fields).body == [])
            #expect(try await unread() == ["UNREAD": "0", "BADGENO": "0"])

            var sent: [String] = []
            for index in 0..<5 {
                let more = ["BADGENO": "1", "EXT": "x\(index)", "MESSAGE": #"{"title":"Notice","body":"Hello"}"#]
                sent.insert(try await caller.send(to: ["hong"], more), at: 0)
            }
            let hidden = try await caller.send(to: ["hong"], ["DB_IN": "N"])
            for number in sent + [hidden] { _ = try #require(try await funnel(world, number, app: caller.app())) }

            #expect(try await unread() == ["UNREAD": "5", "BADGENO": "5"])
            let list = try await caller.call("gw_get_message_list", phone.fields)
            #expect(list.json["HEADER"]?["SERVICE"] == "gw_get_message_list")
            #expect(Self.numbers(list) == sent)
            let newest = try #require(list.first)
            #expect(newest["APPID"]?.string == caller.application)
            #expect(newest["TITLE"] == "Notice")
            #expect(newest["MESSAGE"] == "Hello")
            #expect(newest["EXT"] == "x4")
            #expect(newest["SENDERCODE"] == "admin")
            #expect(newest["STATUS"] == "SENT", "a list does not count as a receipt")
            let other = try await caller.call("gw_get_message_list", tablet.fields)
            #expect(Self.numbers(other) == sent)

            func page(_ more: [String: String]) async throws -> [String] {
                Self.numbers(try await caller.call("gw_get_message_list", phone.fields.merging(more) { $1 }))
            }
            #expect(try await page(["COUNT": "2"]) == Array(sent[..<2]))
            #expect(try await page(["COUNT": "2", "LASTSEQNO": sent[1]]) == Array(sent[2..<4]))
            #expect(try await page(["COUNT": "2", "LASTSEQNO": sent[3]]) == [sent[4]])
            #expect(try await page(["LASTSEQNO": sent[4]]) == [])
            #expect(try await page(["LASTSEQNO": "999999"]) == sent)

            let receipt = phone.fields.merging(["SEQNO": sent[0]]) { $1 }
            #expect(try await caller.call("rcv_register_sent_ack", receipt).code == "0000")
            #expect(try await caller.read(tablet, sent[1], badge: -1).first?["BADGENO"] == "4")
            let one = try await caller.call("gw_get_message", phone.fields.merging(["SEQNO": sent[1]]) { $1 })
            #expect(one.body?.array?.count == 1)
            #expect(one.first?["STATUS"] == "READ")
            #expect(one.first?["READ_YN"] == "Y")
            #expect(one.first?["READDATE"]?.string?.count == 14)
            let received = try await caller.call("gw_get_message", receipt)
            #expect(received.first?["STATUS"] == "RECEIVED")
            #expect(received.first?["REVDATE"]?.string?.count == 14)
            #expect(try await page(["READ_YN": "Y"]) == [sent[1]])
            #expect(try await page(["READ_YN": "N"]) == [sent[0]] + sent[2...])
            #expect(try await unread() == ["UNREAD": "4", "BADGENO": "4"])
            let gone = try await caller.call("gw_get_message", phone.fields.merging(["SEQNO": hidden]) { $1 })
            #expect(gone.code == "40000")
        }
    }

    @Test func nobodySeesAnothersHistory() async throws {
        try await with { world, caller in
            let (hong, kim) = (Phone(user: "hong"), Phone(user: "kim"))
            for phone in [hong, kim] { try await caller.register(phone) }
            let number = try await caller.send(to: ["hong"])
            _ = try #require(try await funnel(world, number, app: caller.app()))
            let foreign = caller.of("other")
            let open = caller.of("open")
            try await open.register(hong)
            for name in ["gw_get_message_list", "gw_get_message", "gw_get_unread_count"] {
                let own = hong.fields.merging(["SEQNO": number]) { $1 }
                #expect(try await caller.call(name, own).code == "0000", "\(name)")
                let bare = own.filter { $0.key != "PSID" }
                #expect(try await caller.call(name, bare).code == "40000", "\(name) without a token")
                let stolen = own.merging(["PSID": kim.token, "DEVICE_ID": hong.device]) { $1 }
                #expect(try await caller.call(name, stolen).code == "4400", "\(name) with another's token")
                let unknown = own.merging(["PSID": Phone(user: "x").token]) { $1 }
                #expect(try await caller.call(name, unknown).code == "4400", "\(name) with nobody's token")
                #expect(try await foreign.call(name, own).code == "4400", "\(name) of another tenant")
                let shown = try await open.call(name, bare).code
                // Registered there, and sent nothing.
                #expect(shown == (name == "gw_get_message" ? "40000" : "0000"), "\(name) where a name is enough")
                #expect(try await open.call(name, bare.merging(["CUID": "nobody"]) { $1 }).code == "4400", "\(name)")
            }
            let others = kim.fields.merging(["SEQNO": number]) { $1 }
            #expect(try await caller.call("gw_get_message_list", kim.fields).body == [])
            #expect(try await caller.call("gw_get_message", others).code == "40000")
            #expect(try await caller.call("gw_get_unread_count", kim.fields).first?["UNREAD"] == "0")
        }
    }

    @Test func aKeyOfAnotherUserOpensNoHistory() async throws {
        try await with { _, first in
            let caller = first.of("secured")
            func key(_ phone: Phone) async throws -> String {
                let asked = try await caller.call("asking_authorization", phone.fields)
                return try #require(asked.first?["AUTHKEY"]?.string)
            }
            let (hong, kim) = (Phone(user: "hong"), Phone(user: "kim"))
            for phone in [hong, kim] { try await caller.register(phone, ["AUTHKEY": try await key(phone)]) }
            func code(_ fields: [String: String], _ key: String) async throws -> String? {
                try await caller.call("gw_get_message_list", fields.merging(["AUTHKEY": key]) { $1 }).code
            }
            #expect(try await code(hong.fields, try await key(hong)) == "0000")
            #expect(try await code(hong.fields, try await key(kim)) == "40100")
            #expect(try await code(hong.fields, "") == "40100")
            // Anybody gets a key for a name he says: the token is what shows whose history it is.
            let asking = kim.fields.merging(["CUID": "hong"]) { $1 }
            let asked = try await caller.call("asking_authorization", asking)
            #expect(try await code(asking, try #require(asked.first?["AUTHKEY"]?.string)) == "4400")
        }
    }

    private static func numbers(_ answer: UPMCCaller.Answer) -> [String] {
        (answer.body?.array ?? []).compactMap { $0["SEQNO"]?.string }
    }
}
