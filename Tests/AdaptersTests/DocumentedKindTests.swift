import Adapters
import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

/// Every call that a wire contract documents, read from its page (docs/contracts), has one kind, whatever it contains, and is in the vendor's catalogue.
/// `UpstreamKindTests` of the vendors states the kind of each call of the catalogues.
struct DocumentedKindTests {
    /// A call of a page.
    private struct Call {
        /// Its name in the vendor's catalogue.
        let name: String
        var method = HTTPRequest.Method.post
        let path: String
    }

    private static let vendors: [Vendor] = [.braze, .ipns, .notificationHubs, .rationalOwl, .upmc]

    // MARK: The pages

    /// The calls that a page names by method and path.
    private static func calls(byMethodIn page: String) throws -> [Call] {
        let methods: Set<Substring> = ["DELETE", "GET", "PATCH", "POST", "PUT"]
        var known: Set<String> = []
        return try ContractPage(page).code.flatMap { text -> [Call] in
            let words = text.split(separator: " ")
            guard words.count > 1, methods.contains(words[0]), words[1].hasPrefix("/"),
                let method = HTTPRequest.Method(String(words[0]))
            else { return [] }
            let path = String(words[1].prefix { $0 != "?" })
            // docs/contracts/braze.md#5.7: the calls of the previous chapter.
            let paths = path.hasSuffix("*") ? ["create", "update", "delete"].map { "\(path.dropLast())\($0)" } : [path]
            return paths.filter { known.insert("\(words[0]) \($0)").inserted }
                .map { Call(name: "\(words[0]) \($0)", method: method, path: $0) }
        }
    }

    private static func documented(_ vendor: Vendor) throws -> [Call] {
        switch vendor {
        case .braze: return try calls(byMethodIn: "braze")
        case .notificationHubs: return try calls(byMethodIn: "notificationhubs")
        case .ipns:
            let page = try ContractPage("ipns")
            // `recvReport` has no section of its own.
            let names = page.code(ofLines: "## 2.") + page.code(ofLines: "- **`recvReport`**").prefix(1)
            return names.map { Call(name: $0, path: "/ipns/\($0)") }
        case .upmc:
            return try ContractPage("upmc").rows(of: "1.6").map { name in
                let isMarketing = name.hasPrefix("{umpc}/")
                let name = isMarketing ? String(name.dropFirst(7)) : name
                return Call(name: name, path: isMarketing ? "/\(name)" : "/upmc/\(name).ctl")
            }
        default:
            let page = try ContractPage("rationalowl")
            let ofBackEnds = page.code(ofLines: "### 8.").map { $0.hasPrefix("/") ? $0 : "/msgClient/\($0)" }
            let paths =
                page.rows(of: "5").map { "/pushApp/\($0)" } + page.rows(of: "7.4").map { "/ro/v1/\($0)" } + ofBackEnds
                + page.rows(of: "11")
            return Set(paths).sorted().map { Call(name: $0, path: $0) }
        }
    }

    /// The calls of the vendor's catalogue, without what a name adds to method and path.
    private static func catalogue(_ vendor: Vendor) throws -> Set<String> {
        let folder =
            switch vendor {
            case .braze: "Braze"
            case .ipns: "IPNS"
            case .notificationHubs: "NotificationHubs"
            case .upmc: "UPMC"
            default: "RationalOwl"
            }
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../\(folder)Tests/Fixtures/catalogue.json")
        let listed = try JSONParser.parse(String(contentsOf: file, encoding: .utf8))["calls"]?.array ?? []
        return Set(
            listed.compactMap(\.string).map { String($0.prefix { $0 != "?" }.replacing(" by template", with: "")) }
        )
    }

    // MARK: Kinds

    /// The name of the route that a path without placeholders has.
    private static func route(_ path: String, of adapter: any UpstreamAdapter) -> String {
        func trimmed(_ path: String) -> String { path.hasSuffix("/") ? String(path.dropLast()) : path }
        let found = adapter.routes.first { route in
            guard case .exact(let own) = route.path else { return false }
            return trimmed(own) == trimmed(path)
        }
        return found?.name ?? ""
    }

    /// The kinds of a call with several bodies, bound and unbound.
    private static func kinds(_ call: Call, _ adapter: any UpstreamAdapter) -> Set<CallKind> {
        let path = call.path.replacing("{hub}", with: "hub1").replacing("{id}", with: "1").replacing(
            "{tag}",
            with: "a"
        )
        let bodies = ["", "{}", "{", "[]", "x=y", #"{"kind":"read","cmd":"none"}"#, "\u{0}"]
        let settings = [BindingSettings.unbound, BindingSettings(tenant: "acme", app: "shop")]
        let kinds = bodies.flatMap { body in
            settings.map { settings in
                let request = VendorRequest(
                    route: route(call.path, of: adapter),
                    method: call.method,
                    path: path,
                    body: Array(body.utf8)
                )
                return adapter.kind(of: request, settings: settings)
            }
        }
        return Set(kinds)
    }

    @Test(arguments: zip(vendors, [22, 9, 19, 39, 31])) func everyDocumentedCallHasOneKind(
        _ vendor: Vendor,
        _ count: Int
    ) throws {
        let adapter = try #require(VendorCatalog.product.byVendor[vendor] as? any UpstreamAdapter)
        let catalogue = try Self.catalogue(vendor)
        let calls = try Self.documented(vendor)
        // A page that is written in another way has other calls here.
        #expect(calls.count == count, "\(calls.map(\.name))")
        for call in calls {
            let kinds = Self.kinds(call, adapter)
            #expect(kinds.count == 1 && !kinds.contains(.other), "\(call.name): \(kinds)")
            #expect(call.method != .get || kinds == [.read], "\(call.name): \(kinds)")
            // The catalogue of Notification Hubs has one call for an image and the list of them.
            let isListed =
                catalogue.contains(call.name)
                || catalogue.contains(call.name.replacing("/api/notifications/{id}", with: "/api/notifications"))
            #expect(isListed, "\(call.name) is not in the catalogue of \(vendor)")
        }
    }

    /// The names of a catalogue are in the contract: as a whole or, where it says so with `…`, by their last part.
    @Test(arguments: vendors) func everyCallOfACatalogueIsDocumented(_ vendor: Vendor) throws {
        let documented = Set(try Self.documented(vendor).map(\.name))
        let left = try Self.catalogue(vendor).subtracting(documented)
        let known: [Vendor: Set<String>] = [
            // The contract states that these paths answer 404 (docs/contracts/braze.md#5.11), and abbreviates the others.
            .braze: [
                "POST /messages/schedule/update", "POST /messages/schedule/delete",
                "POST /messages/live_activity/start",
                "POST /messages/live_activity/update", "POST /canvas/trigger/send",
            ],
            .notificationHubs: [
                "DELETE /{hub}/schedulednotifications/{id}", "GET /{hub}/registrations/{id}", "GET /api/notifications",
                "GET /{hub}/feedbackcontainer", "/{hub}/jobs",
            ],
            // A call of the vendor.
            .rationalOwl: ["tracking callback"],
        ]
        #expect(left == known[vendor] ?? [])
    }
}
