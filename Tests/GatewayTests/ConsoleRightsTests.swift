import Foundation
import HTTPTypes
import Model
import PageParts
import TestKit
import Testing

@testable import ConsoleHTTP
@testable import Gateway
@testable import NativeHTTP

/// The rights of the roles, against a table that is written by hand.
struct ConsoleRightsTests {
    /// The operations of the native API by the permission that an account needs for them.
    private static let table: [Permission: Set<String>] = [
        .figures: [
            "find", "listMessages", "showMessage", "listDeliveries", "showDelivery", "listDevices", "showDevice",
            "listDeviceInbox", "diagnoseDevice", "showLiveActivityTokens", "listApps", "showApp", "countAudience",
            "listCampaigns", "showCampaign", "listTemplates", "showTemplate", "listChannels", "showChannel",
            "listGroups", "showGroup",
            "listGroupMembers", "listUsers", "showUser", "showConsents", "listExpectedUsers", "listEvents", "showQueue",
            "showFunnel", "showTimeseries", "showLosses", "showVendors", "showLatency", "showDeviceFigures",
            "showVersionCounts", "showCampaignCounts", "showHourCounts",
        ],
        .personal: ["exportDeliveries", "exportEvents", "exportDevices"],
        .send: [
            "sendMessage", "createCampaign", "putCampaign", "deleteCampaign", "createChannel", "deleteChannel",
            "sendToChannel", "startLiveActivity", "updateLiveActivity", "endLiveActivity", "storeMedia", "createGroup",
            "deleteGroup", "changeGroupMembers", "putTemplate", "deleteTemplate",
        ],
        .operate: [
            "withdrawMessage", "pauseMessage", "resumeMessage", "cancelMessage", "requeueMessage", "registerDevice",
            "updateDevice", "eraseDevice", "vouchIdentity", "challengeDevice", "reportLiveActivityToken", "updateUser",
            "eraseUser", "changeConsents", "expectUsers", "dropExpectedUser", "importDevices", "reportReceipt",
        ],
        .configure: [
            "putApp", "deleteApp", "showBindings", "showRoutes", "putRoutes", "listRouteVersions", "rollbackRoutes",
            "testRoutes", "issueSharedAccessSignature", "listCredentials", "putCredential", "showCredential",
            "deleteCredential", "createWebhook", "listWebhooks", "showWebhook", "rotateWebhookSecret", "updateWebhook",
            "deleteWebhook", "replayWebhook", "startCapture", "listCaptures", "showCapture", "deleteCapture",
            "stopCapture", "checkCredential", "showParity", "planMigration", "listMigrations", "showMigration",
            "startMigration", "advanceMigration", "pauseMigration", "resumeMigration", "rollbackMigration",
            "completeMigration", "listSenders",
        ],
        .administer: ["approveMessage", "listKeys", "createKey", "showKey", "rotateKey", "deleteKey"],
        .audit: ["listAudit", "showPosture"],
        .platform: ["listNodes"],
    ]

    private func permission(_ operation: NativeOperation) throws -> Permission? {
        let path = operation.path.dropFirst("/v1/".count).split(separator: "/").map {
            $0.hasPrefix("{") ? "x" : String($0)
        }
        return CallRights.permission(try #require(APICall.Method(rawValue: operation.method.rawValue)), path)
    }

    @Test func everyOperationHasItsPermission() throws {
        for operation in NativeOperations.all where operation.id != "provePossession" {
            let expected = Self.table.first { $0.value.contains(operation.id) }?.key
            let found = try permission(operation)
            // An operation that this table does not list yet must be one of the strictest.
            #expect(found == expected ?? found && found != nil, "\(operation.id): \(String(describing: found))")
            if expected == nil {
                #expect([.administer, .configure, .send].contains(found), "\(operation.id) is not in the table")
            }
        }
        let known = Set(NativeOperations.all.map(\.id))
        for id in Self.table.values.joined() { #expect(known.contains(id), "\(id) does not exist") }
    }

    @Test func noAccountMakesCallsWithoutAKey() {
        #expect(CallRights.permission(.post, ["possession"]) == nil)
        #expect(CallRights.permission(.get, []) == nil)
        #expect(CallRights.permission(.get, ["something", "new"]) == .administer)
    }

    /// Each permission makes the call possible, and none grants more than `admin` where `read` suffices.
    @Test func thePermissionsHaveTheScopesOfTheirOperations() throws {
        for operation in NativeOperations.all {
            guard let permission = try permission(operation), let scope = operation.scope else { continue }
            #expect(CallRights.scopes(for: permission).apps(scope) == .all, "\(operation.id)")
        }
        for permission in [Permission.figures, .personal, .send, .operate] {
            #expect(!CallRights.scopes(for: permission).mayAdminister)
        }
        #expect(CallRights.scopes(for: .figures).apps(.send) == .only([]))
    }

    // MARK: Personal data

    private let people = PersonalData(key: [UInt8](repeating: 3, count: 32))

    @Test func whatIdentifiesPeopleIsMasked() throws {
        let answer: JSON = [
            "identities": [
                [
                    "key": "phone-1", "user": "kim", "name": "Kim Minsu", "phone": "821012345678", "vendor": "native",
                    "tags": ["seoul"], "attributes": ["first_name": "Minsu", "home": ["city": "Suwon"]],
                ]
            ],
            "address": "user:kim", "keys": ["phone-1", "phone-2"], "app": "shop", "title": "Hello",
            "deep": [["deeper": ["aliases": [["label": "email", "name": "kim@example.com"]]]]],
        ]
        let masked = people.masked(answer, path: ["devices", "x"])
        let text = JSONWriter.text(masked)
        for secret in ["phone-1", "phone-2", "kim", "Kim", "12345678", "example.com", "Minsu", "Suwon"] {
            #expect(!text.contains(secret), "\(secret) in \(text)")
        }
        #expect(masked["identities"]?.array?.first?["phone"]?.string?.hasSuffix("5678") == true)
        #expect(masked["address"]?.string == "user:•••" && masked["app"] == "shop" && masked["title"] == "Hello")
        #expect(masked["identities"]?.array?.first?["tags"] == ["seoul"])
    }

    @Test func namesOfThingsStay() {
        let campaign: JSON = ["campaigns": [["campaign": "spring", "name": "Spring sale"]]]
        #expect(people.masked(campaign, path: ["apps", "shop", "campaigns"]) == campaign)
        let figures: JSON = ["rows": [["key": "shop", "sent": 3]]]
        #expect(people.masked(figures, path: ["analytics", "funnel"]) == figures)
        // An author saves and sends what a template contains: a mask would take its place.
        let template: JSON = ["name": "winter", "content": ["data": ["user": "u", "key": "k", "url": "app://sale"]]]
        #expect(people.masked(template, path: ["apps", "shop", "templates", "winter"]) == template)
        #expect(people.masked(template, path: ["apps", "templates", "users"]) != template)
        let entry: JSON = ["entries": [["subject": "app shop", "actor": "account:lee"], ["subject": "user kim"]]]
        let masked = people.masked(entry, path: ["audit"])
        #expect(masked["entries"]?.array?.map { $0["subject"]?.string } == ["app shop", "user •••"])
    }

    /// A mask in the content of an earlier message would be sent to others.
    @Test func theContentOfAMessageIsWholeOrAbsent() {
        func content(_ content: JSON) -> JSON? {
            let message: JSON = ["id": "m", "title": "Hello", "content": content, "submittedBy": "key:crm"]
            let masked = people.masked(message, path: ["messages", "m"])
            #expect(masked["title"] == "Hello")
            return masked["content"]
        }
        let impersonal: JSON = ["title": "Hello", "data": ["order": "4711"]]
        #expect(content(impersonal) == impersonal)
        #expect(content(["title": "Hello", "data": ["user": "kim"]]) == .null)
        #expect(content(.null) == .null)
    }

    @Test func anInboxIsMasked() {
        let inbox: JSON = ["messages": [["id": "1", "title": "Your parcel", "body": "is here", "state": "read"]]]
        let masked = people.masked(inbox, path: ["devices", "x", "inbox"])
        #expect(JSONWriter.text(masked) == #"{"messages":[{"id":"1","title":"•••","body":"•••","state":"read"}]}"#)
    }

    @Test func cursorsOfPeopleAreSealedAndOpened() throws {
        let page: JSON = ["users": [], "next": "kim@example.com"]
        let next = try #require(people.masked(page, path: ["apps", "shop", "users"])["next"]?.string)
        #expect(!next.contains("kim") && people.opened(next) == "kim@example.com")
        #expect(people.opened("plain") == "plain")
        #expect(people.opened("sealed-00") == nil && people.opened("sealed-zz") == nil)
        #expect(PersonalData(key: [UInt8](repeating: 4, count: 32)).opened(next) == nil)
    }

    @Test func anyJSONIsMaskedWithoutATrap() throws {
        var mutator = Mutator(seed: Fuzz.seed)
        let document: JSON = ["user": "kim", "phones": ["82", ["x"]], "next": 3, "name": .null, "subject": []]
        for index in 0..<min(Fuzz.count, 2000) {
            guard let json = try? JSONParser.parse(mutator.body(index, from: document)) else { continue }
            _ = people.masked(json, path: ["apps", "shop", "users"])
        }
    }
}
