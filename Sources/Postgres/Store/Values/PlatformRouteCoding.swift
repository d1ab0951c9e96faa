package import DeliveryEngine
package import Model
import PostgresClient

/// Encodes the platforms of an app as the JSON of its row: `{"ios":{"topic":"…","credentials":{"production":"apple"}}}`.
package enum PlatformRouteCoding {
    /// The JSON of `routes`. The keys have a fixed order, so that equal routes give equal bytes.
    package static func encode(_ routes: [Platform: PlatformRoute]) -> JSON {
        var platforms = JSONObject()
        for platform in Platform.allCases {
            guard let route = routes[platform] else { continue }
            var credentials = JSONObject()
            for environment in PushEnvironment.allCases {
                credentials[environment.rawValue] = route.credentials[environment].map { .string($0.rawValue) }
            }
            platforms[platform.rawValue] = ["topic": .string(route.topic), "credentials": .object(credentials)]
        }
        return .object(platforms)
    }

    /// Decodes the routes. Unknown platforms are ignored.
    package static func decode(_ object: JSONObject) -> [Platform: PlatformRoute] {
        var routes: [Platform: PlatformRoute] = [:]
        for (name, value) in object.pairs {
            guard let platform = Platform(rawValue: name) else { continue }
            var credentials: [PushEnvironment: CredentialID] = [:]
            for (world, id) in value["credentials"]?.object?.pairs ?? [] {
                guard let environment = PushEnvironment(rawValue: world), let id = id.string else { continue }
                credentials[environment] = CredentialID(id)
            }
            routes[platform] = PlatformRoute(topic: value["topic"]?.string ?? "", credentials: credentials)
        }
        return routes
    }
}
