import sys

from brainsite.supervisor.run import main

sys.exit(main())
