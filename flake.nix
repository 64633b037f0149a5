{
  description = "Modelplane: fleet-level control plane for LLM inference";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      eachSystem = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      # The tools of CONTRIBUTING.md. Python packages stay with hatch, whose lock and pins are the ones that CI uses.
      devShells = eachSystem (pkgs: {
        default = pkgs.mkShell {
          packages = [ pkgs.python311 pkgs.hatch pkgs.uv pkgs.go pkgs.git pkgs.kubectl ]
            ++ pkgs.lib.optionals pkgs.stdenv.isLinux [ pkgs.mmdebstrap pkgs.chromium ];
          # Wheels with native code (gRPC, CEL, RE2) look for the C++ runtime.
          LD_LIBRARY_PATH = pkgs.lib.makeLibraryPath [ pkgs.stdenv.cc.cc.lib ];
        };
      });

      # What needs no package index: the domain's tests. Everything else runs in .ci/run.
      checks = eachSystem (pkgs:
        let
          python = pkgs.python311.withPackages (packages: [ packages.pytest packages.hypothesis packages.pyyaml ]);
        in
        {
          domain = pkgs.runCommand "modelplane-domain" { nativeBuildInputs = [ python ]; } ''
            cp -r ${self} source && chmod -R u+w source && cd source
            export HOME=$TMPDIR PYTHONPATH=lib:functions:schemas
            python -m pytest -p no:cacheprovider tests/unit/{workload,routing,placement,render}
            touch $out
          '';
        });
    };
}
