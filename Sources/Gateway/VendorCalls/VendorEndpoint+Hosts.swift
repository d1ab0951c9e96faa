import GatewayHTTP
import HummingbirdCore
import Model
import Observability
import Routing

/// Calls that name no app, on a host that belongs to one binding (docs/routing.md#calls-without-an-app).
extension VendorEndpoint {
    /// The dialect of a path that no dialect knows, if the host of the call belongs to a binding whose rules proxy such calls. Nil: the gateway does not have the path.
    @inline(never)
    func dialect(ofHostOf request: Request) async -> Vendor? {
        guard upstreams.proxy != nil else { return nil }
        let call = VendorRequest(route: "", path: "", headers: Self.headersWithHost(request))
        guard let (vendor, binding) = await hosted(call), let table = binding.routes?.table else { return nil }
        let found = table.decide(RouteTable.Call(vendor: vendor, kind: .other))
        return found.action == .proxy && found.upstream != nil ? vendor : nil
    }

    /// The upstream's answer to a call in which the dialect does not find the app. Nil: the rules of the host's binding do not proxy it.
    /// The gateway never serves such a call, also not while the upstream is away.
    @inline(never)
    func unplaced(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ record: inout CallRecord,
        _ hold: inout CallHold
    ) async -> VendorResponse? {
        guard upstreams.proxy != nil, let (vendor, binding) = await hosted(call), vendor == adapter.vendor,
            let routes = binding.routes
        else { return nil }
        var call = call
        call.headers = ProxyHeaders.endToEnd(call.headers)
        let decision = await decided(call, adapter, binding.settings, routes)
        guard case .proxy(var proxying) = decision else { return nil }
        proxying.servesInOutage = false
        record.owner = CallRecord.Owner(tenant: binding.tenant, app: binding.app)
        MetricName.proxiedUnread.count([("vendor", "\(vendor)")])
        return await proxied(call, adapter, binding, proxying, nil, &record, &hold, isRemembered: false)
    }

    /// The binding of a call's host, with its dialect. While the store does not answer, the last one that was found.
    private func hosted(_ call: VendorRequest) async -> (Vendor, BoundCall)? {
        guard let host = call.host else { return nil }
        do throws(StoreError) {
            guard let key = try await directory.hosts()[host] else { return nil }
            do throws(StoreError) {
                return try await directory.binding(key).map { (key.vendor, $0) }
            } catch {
                return directory.lastKnown(key).map { (key.vendor, $0) }
            }
        } catch {
            return nil
        }
    }
}
