import Hummingbird
import LocalAPI

extension Route {
    static let fleet = [
        Route(.get, "/v1/fleet") { _, _, service in try Answer.json(try await service.fleetStatus()) },
        Route(.put, "/v1/fleet") { request, _, service in
            try Answer.json(try await service.installCertificates(try await request.decode(FleetCertificates.self)))
        },
        Route(.delete, "/v1/fleet") { _, _, service in try Answer.json(try await service.leaveFleet()) },
        Route(.post, "/v1/fleet/certificates") { request, _, service in
            try Answer.json(
                try await service.signCertificate(try await request.decode(SignCertificateRequest.self)),
                status: .created)
        },
        Route(.get, "/v1/fleet/devices", query: Page.query) { request, _, service in
            try Page(of: request).answer(try await service.fleetDevices(), request)
        },
        Route(.post, "/v1/fleet/revocations") { request, _, service in
            try Answer.json(
                try await service.revoke(try await request.decode(RevocationRequest.self)), status: .created)
        },
        Route(.post, "/v1/fleet/invitations") { request, _, service in
            try Answer.json(
                try await service.openInvitation(try await request.decode(InvitationRequest.self)), status: .created)
        },
        // Its code lets a laptop in.
        Route(.get, "/v1/fleet/invitations/{invitation}", isSecret: true) { _, context, service in
            try Answer.json(try await service.invitation(context.parameter("invitation")))
        },
        Route(.put, "/v1/fleet/invitations/{invitation}") { request, context, service in
            let admission = try await request.decode(AdmissionRequest.self)
            return try Answer.json(try await service.admit(admission, to: context.parameter("invitation")))
        },
        Route(.delete, "/v1/fleet/invitations/{invitation}") { _, context, service in
            try Answer.json(try await service.withdrawInvitation(context.parameter("invitation")))
        },
        Route(.post, "/v1/fleet/join") { request, _, service in
            try Answer.json(try await service.join(try await request.decode(JoinRequest.self)), status: .accepted)
        },
        Route(.get, "/v1/fleet/join") { _, _, service in try Answer.json(try await service.joinStatus()) },
        Route(.delete, "/v1/fleet/join") { _, _, service in try Answer.json(try await service.endJoin()) },
    ]
}
